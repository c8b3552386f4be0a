import type { CaseContext, Json, SuiteSource } from "../sandbox/index.ts";

const base = "/api/experiments";
const units = ["a", "b", "c", "d", "e", "f", "g", "h"];
const variantsOf = (old: number) => [
  { key: "old", weight: old },
  { key: "new", weight: 100 - old },
];

/** Starts an experiment with two variants, and returns its path. */
async function startExperiment(context: CaseContext): Promise<string> {
  const { id } = await context.data("POST", base, {
    ...{ key: context.name().replaceAll("_", "-"), score_window_s: 3600, planned_units: 1000 },
    ...{ variants: variantsOf(50), metrics: [{ key: "bought", type: "proportion" }] },
  });
  await context.data("POST", `${base}/${id}/start`, {});
  return `${base}/${id}`;
}

const assign = (context: CaseContext, path: string, unit: string): Promise<Json> =>
  context.data("POST", `${path}/assign`, { unit });

/** Cases about experiments. */
export const experimentsSuite: SuiteSource = {
  id: "experiments",
  name: "Experiments",
  description: "How units are assigned to variants, and what counts as their outcome.",
  version: 1,
  defaults: { capabilities: ["experiments"], dryRun: false },
  cases: {
    "experiment.sticky-assignment": {
      guarantee: "A unit keeps its variant, also after the weights have changed.",
      async run(context) {
        const path = await startExperiment(context);
        const assignAll = async () =>
          (await Promise.all(units.map((unit) => assign(context, path, unit)))).map(({ variant }) => variant).join();
        const first = await assignAll();
        await context.data("PATCH", path, { variant_set: { variants: variantsOf(1) } });
        context.expect("every unit keeps its variant", (await assignAll()) === first, true);
      },
    },
    "experiment.receipt-verifiable": {
      guarantee: "Anybody can verify the receipt of an assignment, and a forged one is found.",
      async run(context) {
        const { receipt } = await assign(context, await startExperiment(context), "a");
        const verify = async (token: string) =>
          (await context.send("POST", `${base}/receipts:verify`, { as: "nobody", body: { token } })).body?.data
            ?.valid ?? false;
        context.expect("the receipt is valid", await verify(receipt.token), true);
        const end = receipt.token.at(-2) === "A" ? "B" : "A";
        const forged = `${receipt.token.slice(0, -2)}${end}${receipt.token.at(-1)}`;
        context.expect("a forged receipt is valid", await verify(forged), false);
      },
    },
    "experiment.score-once": {
      guarantee: "A score counts once, and only for a unit that was exposed.",
      async run(context) {
        const path = await startExperiment(context);
        await assign(context, path, "a");
        const score = (fields: object) =>
          context.send("POST", `${path}/scores`, { body: { score_id: "s", unit: "a", metric: "bought", ...fields } });
        context.expect("status of the score", (await score({})).status, 200);
        context.expect("status of its repeat", (await score({})).status, 200);
        context.expect("another score with its id", (await score({ value: 0 })).code, "SCORE_ID_REUSED");
        const unknown = await score({ score_id: "other", unit: "never" });
        context.expect("a score of a unit that was never exposed", unknown.status < 300, false);
      },
    },
    "experiment.decision-applies": {
      guarantee: "After the decision everybody gets the decided variant.",
      async run(context) {
        const path = await startExperiment(context);
        await context.data("POST", `${path}/complete`, { variant: "new", reason: "conformance" });
        const { variant, reason } = await assign(context, path, "late");
        context.expect("variant of a new unit", variant, "new");
        context.expect("its reason", reason, "decided");
      },
    },
  },
};
