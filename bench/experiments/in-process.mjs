// The decision of a variant in process: ours (targeting, allocation, variant, digest of the unit) beside GrowthBook's SDK.
import { GrowthBook } from "@growthbook/growthbook";
import { unitHashOf } from "../../src/modules/experiments/assignments/domain/unit-hash.ts";
import { compileExperiment, decideEligibility } from "../../src/modules/experiments/assignments/eligibility.ts";

const times = 200_000;

export async function measureInProcess() {
  const design = {
    ...{ unit: "user", control: "a", allocationPct: 50, targeting: 'attributes.country == "CH"', metrics: [] },
    ...{ scoreWindowS: 0, plannedUnits: 1000, alpha: 0.05, expectedUnitsPerDay: 0 },
    variants: ["a", "b"].map((key) => ({ key, weight: 1, description: "" })),
  };
  const salts = { allocation: "a".repeat(32), variant: "b".repeat(32), unit: "c".repeat(32) };
  const phases = [{ number: 1, weights: [1, 1], allocationPct: 50, startedAt: "" }];
  const compiled = compileExperiment({ tenantId: "t", environmentId: "e", design, salts, phases, layerRanges: null });
  const ours = (unit) => {
    decideEligibility(compiled, unit, { country: "CH" });
    unitHashOf(salts.unit, unit);
  };
  const theirs = (id) => {
    const user = new GrowthBook({ attributes: { id, country: "CH" } });
    user.run({ key: "e", variations: ["a", "b"], coverage: 0.5, condition: { country: "CH" } });
    user.destroy();
  };
  return { oursUs: costUs(ours), growthbookUs: costUs(theirs) };
}

function costUs(work) {
  for (let nth = 0; nth < times / 10; nth++) work(`user-${nth}`);
  const startedAt = performance.now();
  for (let nth = 0; nth < times; nth++) work(`user-${nth}`);
  return ((performance.now() - startedAt) / times) * 1000;
}
