import type { Signals, Sql } from "../../../platform/db/index.ts";
import { runInSlices } from "../../../platform/event-loop/index.ts";
import { createRepeatedTask } from "../../../platform/jobs/index.ts";
import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { UnitValue } from "../analysis/index.ts";
import { MomentChanges } from "./domain/moment-changes.ts";
import { type CountedScore, unitValueOf } from "./domain/unit-values.ts";
import type { HistoryWriter } from "./history-writer.ts";
import { addMatureCounts, applyMomentChanges, type MatureCount } from "./moment-store.ts";
import {
  type CountedUnit,
  type DueExperiment,
  type DueUnit,
  lockDueUnits,
  markCounted,
  nextDue,
  readDueExperiments,
  readPendingScores,
  requestPoints,
} from "./unit-count-store.ts";

/** Counts units whose window has ended, exactly once. Every node runs one. */
export type UnitCountWorker = ReturnType<typeof createUnitCountWorker>;

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "log" | "shares"> {
  readonly signals: Pick<Signals, "onDue">;
  readonly metrics: Pick<Metrics, "counter">;
  readonly history: HistoryWriter;
}

const batchSize = 1000;

/** Creates the worker of this node. */
export function createUnitCountWorker({ db, signals, clock, log, shares, metrics, history }: Dependencies) {
  const matured = metrics.counter({
    name: "experiment_units_matured_total",
    help: "Units that entered the results of their experiment.",
    labels: [],
  });

  /** Counts a batch of units; the marks and the moments are committed together. */
  async function countBatch(tx: Sql, nowMs: number): Promise<number> {
    const units = await lockDueUnits(tx, nowMs, batchSize);
    if (units.length === 0) return 0;
    const experiments = await readDueExperiments(tx, units);
    const scores = await readPendingScores(tx, units);
    const slices = shares.forBackground(units[0]!.tenantId);
    const { changes, counts, marks, touched } = await runInSlices(countUnits(units, experiments, scores), slices);
    await applyMomentChanges(tx, changes.sorted());
    await addMatureCounts(tx, counts);
    await markCounted(tx, marks);
    await requestPoints(tx, touched, nowMs);
    return units.length;
  }

  /** Runs one round; returns whether there may be more to do immediately. */
  async function sweep(): Promise<boolean> {
    const nowMs = clock.now();
    const counted = await db.transaction((tx) => countBatch(tx, nowMs));
    if (counted > 0) matured.inc({}, counted);
    const written = await history.writeDue();
    return counted === batchSize || written;
  }

  const task = createRepeatedTask({
    work: async () => ((await sweep()) ? 0 : undefined),
    onError: (error) => log.warn({ err: error }, "counting units of experiments failed"),
    subscribe: ({ runWithin }) => [signals.onDue(nextDue, (_, atMs) => runWithin(atMs - clock.now()))],
  });
  return { sweep, start: task.start, stop: task.stop };
}

/** Collects the changes of a batch. Units of ended experiments are marked and not counted. Yields after each unit. */
function* countUnits(
  units: readonly DueUnit[],
  experiments: ReadonlyMap<string, DueExperiment>,
  scores: ReadonlyMap<string, readonly CountedScore[]>,
) {
  const changes = new MomentChanges();
  const counts = new Map<string, MatureCount>();
  const marks: CountedUnit[] = [];
  const touched = new Map<string, DueExperiment>();
  for (const unit of units) {
    const { tenantId, experimentId, unitHash, phase, variant } = unit;
    const experiment = experiments.get(experimentId);
    if (experiment === undefined || experiment.status === "completed" || experiment.status === "stopped") {
      marks.push({ tenantId, experimentId, unitHash, counted: undefined });
      continue;
    }
    const shard = shardOf(unitHash);
    const key = { tenantId, experimentId, phase, variant, shard };
    const scoresByMetric = Map.groupBy(scores.get(experimentId + unitHash) ?? [], ({ metric }) => metric);
    const values: Record<string, UnitValue> = {};
    for (const metric of experiment.design.metrics) {
      const before = unit.counted?.[metric.key];
      if (before !== undefined) changes.remove({ ...key, metric: metric.key }, before);
      const value = unitValueOf(metric, scoresByMetric.get(metric.key) ?? [], unit.covariates?.[metric.key]);
      if (value === undefined) continue;
      values[metric.key] = value;
      changes.add({ ...key, metric: metric.key }, value);
    }
    if (unit.counted === null) {
      const name = `${experimentId}/${phase}/${variant}/${shard}`;
      counts.set(name, { ...key, count: (counts.get(name)?.count ?? 0) + 1 });
    }
    const isReplaceable = experiment.design.scoreWindowS === 0;
    marks.push({ tenantId, experimentId, unitHash, counted: isReplaceable ? values : undefined });
    touched.set(experimentId, experiment);
    yield;
  }
  return { changes, counts: [...counts.values()], marks, touched: [...touched.values()] };
}

/** The shard of a unit: the first of its 32 hexadecimal digits. */
function shardOf(unitHash: string): number {
  return Number.parseInt(unitHash[0]!, 16);
}
