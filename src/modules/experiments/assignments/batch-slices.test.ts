import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import type { TenantId } from "../../../platform/access/index.ts";
import { createMetrics } from "../../../platform/telemetry/index.ts";
import type { Experiment } from "../experiments/index.ts";
import { compileExperiment } from "./eligibility.ts";
import { exposureName, type NewExposure } from "./exposure-store.ts";
import { createReceipts } from "./receipts.ts";
import { createAssignmentService } from "./service.ts";

const tenantId = "t" as TenantId;
const compiled = compileExperiment({
  ...{ tenantId, id: "e", environmentId: "p", environmentKey: "production", key: "k", status: "running" },
  salts: { allocation: "a", variant: "v", unit: "u" },
  ...{ layerRanges: null, endedAt: null, decision: null },
  phases: [{ number: 1, weights: [1], allocationPct: 100, startedAt: "" }],
  design: {
    variants: [{ key: "on", weight: 1, description: "" }],
    ...{ control: "on", allocationPct: 100, targeting: "unit != 'x'", scoreWindowS: 0 },
    metrics: [{ key: "m", type: "mean", role: "success", direction: "increase", margin: 0, aggregation: "sum" }],
  },
} as unknown as Experiment);

/** The service with slices that are always used up, and their number. */
function createStage() {
  const counted = { slices: 0 };
  const slices = {
    isOver: () => true,
    next: async () => {
      counted.slices++;
    },
  };
  const receipts = createReceipts(randomBytes(32));
  const service = createAssignmentService({
    receipts,
    shares: { forCall: () => slices, forBackground: () => slices },
    quotas: () => ({ isUsedUp: () => false, exceeded: () => new Error() }),
    metrics: createMetrics(),
    graceMs: 0,
    writer: {
      write: async ({ exposures }: { exposures: readonly NewExposure[] }) => {
        const stored = new Map(exposures.map((each) => [exposureName(each), each]));
        return { stored, added: stored.size };
      },
    },
  } as unknown as Parameters<typeof createAssignmentService>[0]);
  const context = { tenantId, nowMs: 1, quotaOf: () => undefined } as unknown as Parameters<
    typeof service.assignUnits
  >[0];
  return { counted, service, context };
}

const unitsOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ unit: `u${at}`, attributes: {}, covariates: {} }));

test("the units of a batch are assigned in slices of the event loop, and their receipts are signed in others", async () => {
  const { counted, service, context } = createStage();
  const assigned = await service.assignUnits(context, compiled, unitsOf(100));
  assert.deepEqual([...new Set(assigned.map(({ variant }) => variant))], ["on"]);
  assert.equal(counted.slices, 200);
  // Receipts that are in memory are not signed again.
  await service.assignUnits(context, compiled, unitsOf(100));
  assert.equal(counted.slices, 300);
});

test("a single unit waits for no slice", async () => {
  const { counted, service, context } = createStage();
  const [assigned] = await service.assignUnits(context, compiled, unitsOf(1));
  assert.deepEqual([assigned!.variant, counted.slices], ["on", 0]);
});
