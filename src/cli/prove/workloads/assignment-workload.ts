import { setTimeout as delay } from "node:timers/promises";
import type { CreateWorkload } from "../workload.ts";

const units = 300;
const batchSize = 50;

/** Assigns units of an experiment again and again, on all nodes. */
export const createAssignmentWorkload: CreateWorkload = async (context) => {
  const { tenant, history, random, loading, call } = context;
  const { value: experiment } = await call(
    (client, options) =>
      client.experiments.create(
        { key: "proof", variants: [{ key: "a" }, { key: "b" }], metrics: [{ key: "done", type: "proportion" }] },
        options,
      ),
    "experiment",
  );
  const experiment_id = experiment.id;
  await call((client, options) => client.experiments.start({ experiment_id }, options), "start experiment");
  return {
    async load() {
      while (!loading.aborted) {
        const list = Array.from({ length: batchSize }, () => ({ unit: `unit-${Math.floor(random() * units)}` }));
        const answer = await call((client, options) =>
          client.experiments.assignBatch({ experiment_id, units: list }, options),
        );
        const { startMs, endMs, node } = answer;
        for (const { unit, variant } of answer.value.assignments) {
          history.record({
            ...{ kind: "acknowledged", name: "assign", subject: `${tenant.name}/${unit}` },
            ...{ startMs, endMs, node, facts: { variant } },
          });
        }
        await delay(50 + random() * 100);
      }
    },
    async settle() {},
  };
};
