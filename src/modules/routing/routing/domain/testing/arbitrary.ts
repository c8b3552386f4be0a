import { fc } from "../../../../../../test/harness/random.ts";
import type { FallbackStep, PoolId, RecipientId, Strategy } from "../../../pools/index.ts";
import type { DecisionPoint } from "../decision.ts";
import type { RecipientLiveState } from "../facts/live-pool.ts";
import type { RoutableItem } from "../item.ts";
import { itemOf, nowMs, type PoolParts, type RecipientParts, type RuleParts } from "./fixtures.ts";

export const strategies: readonly Strategy[] = [
  "weighted_random",
  "round_robin",
  "least_loaded",
  "priority",
  "sticky_hash",
  "skills_based",
  "longest_idle",
  "lowest_latency",
  "lowest_cost",
  "first_accept",
  "manual",
];

const tiers = ["gold", "silver", "tin"];
const regions = ["eu", "us", "mars"];
const idOf = (nth: number) => `r${nth}`;

/** Conditions over the item, the recipient, both and the time; true, false, failing and empty. */
const condition = fc.constantFrom(
  "",
  "true",
  "false",
  "item.attributes.region == 'eu'",
  "item.attributes.absent == 1",
  "item.priority > 0 || item.type == 'lead'",
  "recipient.attributes.tier == 'gold'",
  "recipient.attributes.tier != 'tin'",
  "recipient.attributes.region == item.attributes.region",
  "item.attributes.vip && recipient.attributes.tier == 'gold'",
  "recipient.attributes.absent == 1",
  "recipient.weight > 50 || recipient.capacity == 0",
  "'german' in recipient.skills",
  "item.key.startsWith('k1') || recipient.id.endsWith('1')",
  "recipient.skills.german >= item.requirements.skills.german",
  "now > timestamp('2020-01-01T00:00:00Z') && recipient.priority < 3",
  "item.attributes[recipient.attributes.region] == true",
  "no expression at all",
);

const action = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ type: "prefer" } as const) },
  { weight: 3, arbitrary: fc.constant({ type: "require" } as const) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      { type: "set_priority", priority: 7 } as const,
      { type: "assign_experiment", experimentKey: "e" } as const,
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      { type: "route", recipientId: "r1" as RecipientId } as const,
      { type: "route", recipientId: "gone" as RecipientId } as const,
      { type: "redirect_pool", poolId: "other" as PoolId } as const,
      { type: "hold", holdS: 30 } as const,
      { type: "reject", reason: "no" } as const,
    ),
  },
);

const rule: fc.Arbitrary<RuleParts> = fc.record({
  condition,
  action,
  stopOnMatch: fc.boolean(),
  onError: fc.constantFrom(...Array<"skip">(9).fill("skip"), "reject"),
});

const recipient: fc.Arbitrary<RecipientParts> = fc.record({
  status: fc.constantFrom("active", "active", "active", "active", "active", "paused", "offline"),
  weight: fc.constantFrom(100, 100, 1, 7, 1000, 0.5, 0),
  capacity: fc.constantFrom(0, 1, 3, 10),
  priority: fc.integer({ min: 0, max: 3 }),
  cost: fc.constantFrom(0, 1, 2.5),
  attributes: fc.oneof(
    fc.constant({}),
    fc.record({ tier: fc.constantFrom(...tiers), region: fc.constantFrom(...regions) }),
  ),
  skills: fc.oneof(
    fc.constant({}),
    fc.record({ german: fc.integer({ min: 1, max: 5 }), sql: fc.integer({ min: 1, max: 5 }) }),
  ),
  availableSince: fc.constantFrom(0, 10, 45, 100_000).map((agoS) => new Date(nowMs - agoS * 1000)),
});

const step: fc.Arbitrary<FallbackStep> = fc.record({
  afterS: fc.constantFrom(0, 30, 60, 90),
  condition,
  strategy: fc.constantFrom(...strategies),
});

/** An arbitrary pool; repeating a few recipients makes a large one. */
export const pool: fc.Arbitrary<PoolParts> = fc
  .record({
    strategy: fc.constantFrom(...strategies),
    recipients: fc.array(recipient, { maxLength: 12 }),
    times: fc.constantFrom(1, 1, 30),
    rules: fc.array(rule, { maxLength: 4 }),
    steps: fc.array(step, { maxLength: 3 }).map((steps) => steps.sort((one, other) => one.afterS - other.afterS)),
    onNoMatch: fc.constantFrom("queue", "reject", "redirect_pool"),
    hashKey: fc.constantFrom("", "item.attributes.region", "item.key + 'x'"),
    choiceCount: fc.constantFrom(1, 2, 3, 20),
    maxEjectedPct: fc.constantFrom(0, 30, 50, 100),
  })
  .map(({ strategy, recipients, times, rules, steps, onNoMatch, hashKey, choiceCount, maxEjectedPct }) => ({
    strategy,
    recipients: Array.from({ length: times }, () => recipients).flat(),
    rules,
    config: {
      selection: { hashKey, choiceCount, slowStartS: 60 },
      fallback: { steps, onNoMatch, redirectPoolId: "overflow" },
      outlier: { maxEjectedPct },
    },
  }));

export const item: fc.Arbitrary<RoutableItem> = fc
  .record({
    type: fc.constantFrom("ticket", "lead"),
    key: fc.constantFrom("", "k1", "k2", "k3"),
    attributes: fc.oneof(
      fc.constant({}),
      fc.record({ region: fc.constantFrom(...regions), vip: fc.boolean(), eu: fc.boolean() }),
    ),
    priority: fc.integer({ min: -1, max: 1 }),
    requirements: fc.record({
      skills: fc.constantFrom<Record<string, number>>(
        {},
        {},
        {},
        {},
        { german: 3 },
        { german: 1, sql: 2 },
        { absent: 1 },
      ),
      recipientId: fc.constantFrom(...Array<string>(12).fill(""), "r1", "gone"),
      excludedRecipientIds: fc.constantFrom([], [], ["r0"], ["r1", "r2", "gone"]),
    }),
  })
  .map(itemOf);

/** Arbitrary live state of the recipients, by position. */
export const moment: fc.Arbitrary<readonly RecipientLiveState[]> = fc
  .array(
    fc.record({
      inFlight: fc.constantFrom(0, 0, 1, 3, 10),
      latencyMs: fc.constantFrom(Number.NaN, 10, 20.25, 1 / 3),
      cost: fc.constantFrom(Number.NaN, 0.1, 3),
      lastAssignedAtMs: fc.constantFrom(0, nowMs - 10, nowMs - 5000),
      ejectedUntilMs: fc.constantFrom(0, 0, 0, nowMs, nowMs + 1000),
      deprioritizedUntilMs: fc.constantFrom(0, 0, 0, nowMs + 1000),
    }),
    { maxLength: 40 },
  )
  .map((rows) =>
    Array.from({ length: rows.length * 10 }, (_, nth) => ({ recipientId: idOf(nth), ...rows[nth % rows.length]! })),
  );

/** A fixed time with an arbitrary seed. */
export const point: fc.Arbitrary<DecisionPoint> = fc.record({
  nowMs: fc.constant(nowMs),
  seed: fc.maxSafeNat(),
  waitedS: fc.constantFrom(0, 29.5, 30, 75, 1000),
});
