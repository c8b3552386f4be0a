import { fc } from "../../../../../test/harness/random.ts";
import type { Channel, Subscriber } from "../../subscribers/index.ts";
import type { Layers, OwnRow } from "../domain/layers.ts";
import type { ResolveInput } from "../domain/resolver.ts";
import { type ChannelPreference, channels, type PreferenceSettings, type QuietHours } from "../domain/settings.ts";
import type { TestCondition } from "./reference-resolver.ts";

function failing(): boolean {
  throw new Error("fails");
}

/** Conditions and their evaluation in JavaScript. */
export const testConditions: ReadonlyMap<string, TestCondition> = new Map<string, TestCondition>([
  ["payload.yes", ({ payload }) => payload.yes as boolean],
  ["!payload.yes", ({ payload }) => !payload.yes],
  ["payload.missing == 1", failing],
  ["payload.number", failing],
  ["channel in ['email', 'push']", (_input, channel) => ["email", "push"].includes(channel)],
  [
    "channel == 'sms' ? payload.missing : channel != 'chat'",
    (_input, channel) => (channel === "sms" ? failing() : channel !== "chat"),
  ],
  [
    "subscriber.data.plan == 'pro'",
    ({ subscriber }) => (subscriber.data.plan === undefined ? failing() : subscriber.data.plan === "pro"),
  ],
  ["user_id == 'u'", ({ userId }) => userId === "u"],
  [
    "size(context_keys) == 2 && topic_key == 't'",
    ({ contextKeys, topicKey }) => new Set(contextKeys).size === 2 && topicKey === "t",
  ],
  [
    "workflow_key == 'w' && subscriber.timezone != ''",
    ({ layers, subscriber }) => layers.workflowKey === "w" && subscriber.timezone !== "",
  ],
]);

const condition = fc.oneof(
  { weight: 3, arbitrary: fc.constant("") },
  { weight: 1, arbitrary: fc.constantFrom(...testConditions.keys()) },
);
/** A value in `times` out of ten cases, otherwise undefined. */
const perhaps = <T>(arbitrary: fc.Arbitrary<T>, times = 5): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: times, arbitrary }, { weight: 10 - times, arbitrary: fc.constant(undefined) });
const rarely = fc.integer({ min: 0, max: 3 }).map((n) => n === 0);

const channelPreference: fc.Arbitrary<ChannelPreference> = fc.record({
  enabled: perhaps(fc.boolean()),
  readOnly: rarely,
  condition,
});

const zone = fc.constantFrom("", "", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Kiritimati");
const time = fc.constantFrom("00:00", "01:30", "02:00", "03:00", "07:00", "12:00", "22:00", "23:59");
const schedule: fc.Arbitrary<QuietHours> = fc.record({
  timezone: zone,
  ranges: fc.array(
    fc.record({
      days: fc.subarray(["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const, { minLength: 1 }),
      start: time,
      end: time,
    }),
    { maxLength: 3 },
  ),
});

/** The settings of a layer. */
const settings: fc.Arbitrary<PreferenceSettings> = fc.record({
  all: perhaps(fc.boolean()),
  channels: fc.record(
    Object.fromEntries(channels.map((channel) => [channel, channelPreference])) as Record<
      Channel,
      typeof channelPreference
    >,
    { requiredKeys: [] },
  ),
  schedule: perhaps(schedule, 3),
  readOnly: rarely.chain((maybe) => (maybe ? rarely : fc.constant(false))),
  condition,
});

const row = perhaps(settings, 6);

/** Points in time around clock changes in Berlin and New York, and any others of a year. */
const moment = fc.oneof(
  fc
    .constantFrom("2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z", "2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z")
    .chain((at) => fc.integer({ min: -120, max: 120 }).map((minutes) => Date.parse(at) + minutes * 60_000)),
  fc.integer({ min: Date.parse("2026-01-01T00:00:00Z"), max: Date.parse("2027-01-01T00:00:00Z") }),
);

/** A set of layers and the subscriber that they apply to. */
export const resolveInput: fc.Arbitrary<ResolveInput> = fc
  .record({
    rows: fc.tuple(row, row, row, row, row, row),
    active: fc.integer({ min: 0, max: 20 }).map((n) => n > 0),
    timezone: zone,
    plan: fc.constantFrom("pro", "free", undefined),
    workflowKey: fc.constantFrom("w", "w", "v"),
    userId: fc.constantFrom("u", "u", "x", ""),
    topicKey: fc.constantFrom("t", "t", "s", ""),
    contextKeys: fc.constantFrom(["a", "b"], ["b", "a", "b"], ["a"], []),
    rowContexts: fc.constantFrom(["a", "b"], ["a", "b"], ["a"], []),
    channels: perhaps(fc.subarray([...channels]), 2),
    yes: fc.boolean(),
    nowMs: moment,
  })
  .map(({ rows, active, timezone, plan, workflowKey, rowContexts, yes, ...input }) => {
    const [first, second, third, fourth, fifth, other] = rows;
    const own = [
      rowOf(3, third, "", "", []),
      rowOf(4, fourth, "w", "", []),
      rowOf(5, fifth, "w", "t", rowContexts),
      rowOf(5, other, "w", "t", ["z"]),
    ].flatMap((each) => each ?? []);
    return {
      ...input,
      workflow: { preferences: first },
      layers: { workflowKey, user: second, own } satisfies Layers,
      subscriber: subscriberWith({ active, timezone, data: plan === undefined ? {} : { plan } }),
      payload: { yes, number: 1 },
    };
  });

function rowOf(
  layer: OwnRow["layer"],
  settings: PreferenceSettings | undefined,
  workflowKey: string,
  topicKey: string,
  contextKeys: readonly string[],
): OwnRow | undefined {
  return settings && { layer, workflowKey, topicKey, contextKeys, settings };
}

/** A subscriber with default values except the given ones. */
export function subscriberWith(known: Partial<Subscriber> = {}): Subscriber {
  return {
    tenantId: "tenant" as Subscriber["tenantId"],
    id: "subscriber" as Subscriber["id"],
    externalId: "ada",
    firstName: "Ada",
    lastName: "",
    email: "",
    phone: "",
    avatar: "",
    locale: "",
    timezone: "",
    data: {},
    active: true,
    emailSuppressedAt: null,
    phoneSuppressedAt: null,
    createdAt: new Date(0),
    updatedAt: new Date(0),
    recordVersion: 1,
    ...known,
  };
}
