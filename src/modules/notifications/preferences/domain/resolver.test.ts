import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fc } from "../../../../../test/harness/random.ts";
import type { Channel } from "../../subscribers/index.ts";
import { resolveInput, subscriberWith, testConditions } from "../testing/arbitrary.ts";
import { referenceResolution } from "../testing/reference-resolver.ts";
import type { OwnRow } from "./layers.ts";
import { type ResolveInput, resolve, resolveWithTrace } from "./resolver.ts";
import { channels, emptySettings, type PreferenceSettings, type QuietHours } from "./settings.ts";

type LayerSettings = Partial<PreferenceSettings>;

const nowMs = Date.parse("2026-03-04T12:00:00Z");
const always: QuietHours = { timezone: "", ranges: [{ days: ["wed"], start: "00:00", end: "00:00" }] };
const never: QuietHours = { timezone: "", ranges: [] };
const failing = "payload.missing == 1";

/** An input with the given settings of each layer. */
function inputWith(
  layers: { readonly [layer: number]: LayerSettings },
  more: Partial<ResolveInput> = {},
): ResolveInput {
  const settingsOf = (layer: number) =>
    layers[layer] === undefined ? undefined : { ...emptySettings, ...layers[layer] };
  const own = ([3, 4, 5] as const).flatMap((layer): OwnRow[] => {
    const settings = settingsOf(layer);
    const keys = { workflowKey: layer > 3 ? "w" : "", topicKey: layer > 4 ? "t" : "", contextKeys: [] };
    return settings === undefined ? [] : [{ layer, ...keys, settings }];
  });
  return {
    workflow: { preferences: settingsOf(1) },
    layers: { workflowKey: "w", user: settingsOf(2), own },
    subscriber: subscriberWith(),
    userId: "u",
    topicKey: "t",
    contextKeys: [],
    channels: undefined,
    payload: {},
    nowMs,
    ...more,
  };
}

const email = (preference: { enabled?: boolean; readOnly?: boolean; condition?: string }): LayerSettings => ({
  channels: { email: { readOnly: false, condition: "", ...preference } },
});

/** The decision for a channel: reason and winning layer. */
function decided(input: ResolveInput, channel: Channel = "email"): [string, number] {
  const { reasonCode, winningLayer, allowed } = resolve(input).get(channel)!;
  assert.equal(allowed, reasonCode.startsWith("allowed_"));
  return [reasonCode, winningLayer];
}
const effects = (input: ResolveInput, channel: Channel = "email") =>
  resolveWithTrace(input)
    .find((each) => each.channel === channel)!
    .trace.map(({ effect }) => effect);

test("10,000 random sets of layers: preview, production and the reference resolver decide alike", () => {
  const seen = new Map<string, number>();
  const property = fc.property(resolveInput, (input) => {
    const production = resolve(input);
    assert.deepEqual([...production.keys()], channels);
    for (const { channel, trace, ...previewed } of resolveWithTrace(input)) {
      const { allowed, reasonCode, winningLayer } = production.get(channel)!;
      assert.deepEqual(previewed, { allowed, reasonCode, winningLayer });
      assert.deepEqual(previewed, referenceResolution(input, channel, testConditions));
      assert.deepEqual(
        trace.map(({ layer }) => layer),
        [1, 2, 3, 4, 5],
      );
      if (winningLayer > 0) assert.ok(trace[winningLayer - 1]!.applied);
      seen.set(`${reasonCode} ${winningLayer}`, (seen.get(`${reasonCode} ${winningLayer}`) ?? 0) + 1);
    }
  });
  fc.assert(property, { numRuns: 10_000 });
  // The random sets are representative: every reason occurs with every layer that can cause it.
  const outcomes = ["allowed_default 0", "denied_subscriber_inactive 0", "denied_not_requested 0"];
  for (const layer of [1, 2, 3, 4, 5]) {
    outcomes.push(`allowed_by_layer ${layer}`, `allowed_read_only ${layer}`, `denied_by_layer ${layer}`);
    outcomes.push(`denied_read_only ${layer}`, `denied_channel_condition ${layer}`, `denied_condition_error ${layer}`);
    outcomes.push(`denied_quiet_hours ${layer}`);
  }
  for (const outcome of outcomes) assert.ok((seen.get(outcome) ?? 0) >= 20, `${outcome}: ${seen.get(outcome) ?? 0}`);
});

describe("layers", () => {
  test("a channel without any setting is allowed", () => {
    assert.deepEqual(decided(inputWith({})), ["allowed_default", 0]);
    assert.deepEqual(decided(inputWith({ 3: email({ enabled: false }) }), "sms"), ["allowed_default", 0]);
  });

  test("the strongest layer that applies wins, and its channel setting takes precedence over its `all`", () => {
    assert.deepEqual(decided(inputWith({ 1: { all: false }, 3: { all: true } })), ["allowed_by_layer", 3]);
    assert.deepEqual(decided(inputWith({ 1: { all: true }, 5: { all: false }, 4: { all: true } })), [
      "denied_by_layer",
      5,
    ]);
    const both = inputWith({ 4: { all: false, ...email({ enabled: true }) } });
    assert.deepEqual(decided(both), ["allowed_by_layer", 4]);
    assert.deepEqual(decided(both, "push"), ["denied_by_layer", 4]);
  });

  test("layer 2 needs a user, layer 4 the workflow, layer 5 workflow, topic and the same set of context keys", () => {
    const off = { all: false };
    assert.deepEqual(decided(inputWith({ 2: off })), ["denied_by_layer", 2]);
    assert.deepEqual(decided(inputWith({ 2: off }, { userId: "" })), ["allowed_default", 0]);
    assert.deepEqual(decided(inputWith({ 5: off })), ["denied_by_layer", 5]);
    assert.deepEqual(decided(inputWith({ 5: off }, { topicKey: "s" })), ["allowed_default", 0]);
    assert.deepEqual(decided(inputWith({ 5: off }, { topicKey: "" })), ["allowed_default", 0]);
    assert.deepEqual(decided(inputWith({ 5: off }, { contextKeys: ["a"] })), ["allowed_default", 0]);
    const { layers } = inputWith({ 4: off, 5: off });
    const otherWorkflow = { ...layers, workflowKey: "v" };
    assert.deepEqual(decided(inputWith({}, { layers: otherWorkflow })), ["allowed_default", 0]);
    const own = layers.own.slice(1).map((row) => ({ ...row, contextKeys: ["a", "b"] }));
    const inContexts = (contextKeys: string[]) => decided(inputWith({}, { layers: { ...layers, own }, contextKeys }));
    assert.deepEqual(inContexts(["b", "a", "b"]), ["denied_by_layer", 5]);
    for (const other of [["a"], ["a", "b", "c"], []]) assert.deepEqual(inContexts(other), ["allowed_default", 0]);
  });

  test("stronger layers cannot change a channel that a weaker layer set read-only", () => {
    const locked = inputWith({ 1: email({ enabled: true, readOnly: true }), 3: { all: false }, 5: { all: false } });
    assert.deepEqual(decided(locked), ["allowed_read_only", 1]);
    assert.deepEqual(effects(locked), ["allows", "absent", "locked", "absent", "locked"]);
    assert.deepEqual(decided(locked, "sms"), ["denied_by_layer", 5]);
    const record = inputWith({ 2: { all: false, readOnly: true }, 4: { all: true } });
    assert.deepEqual(decided(record), ["denied_read_only", 2]);
  });

  test("a row that only sets read-only confirms and locks the decision so far", () => {
    const input = inputWith({ 1: { all: false }, 2: { readOnly: true }, 4: { all: true } });
    assert.deepEqual(decided(input), ["denied_read_only", 2]);
    assert.deepEqual(effects(input), ["denies", "affirms", "absent", "locked", "absent"]);
    assert.deepEqual(decided(inputWith({ 3: email({ readOnly: true }), 4: { all: false } })), ["allowed_read_only", 3]);
  });

  test("an inactive subscriber receives nothing, and channels that were not requested are denied", () => {
    const inactive = inputWith({ 1: { all: true, readOnly: true } }, { subscriber: subscriberWith({ active: false }) });
    for (const channel of channels) assert.deepEqual(decided(inactive, channel), ["denied_subscriber_inactive", 0]);
    assert.deepEqual(effects(inactive), ["not_asked", "absent", "absent", "absent", "absent"]);
    const requested = inputWith({ 1: { all: true } }, { channels: ["sms"] });
    assert.deepEqual(decided(requested), ["denied_not_requested", 0]);
    assert.deepEqual(decided(requested, "sms"), ["allowed_by_layer", 1]);
  });
});

describe("conditions", () => {
  test("a row takes effect only if its condition matches", () => {
    const row = { all: false, condition: "subscriber.first_name == 'Ada' && workflow_key == 'w' && payload.n > 3" };
    assert.deepEqual(decided(inputWith({ 3: row }, { payload: { n: 4 } })), ["denied_by_layer", 3]);
    assert.deepEqual(decided(inputWith({ 3: row }, { payload: { n: 3 } })), ["allowed_default", 0]);
    assert.deepEqual(effects(inputWith({ 3: row }, { payload: { n: 3 } }))[2], "ignored");
  });

  test("a channel's condition is evaluated only if the row would allow, and must match then", () => {
    const needs = (condition: string) => inputWith({ 1: email({ enabled: true, condition }) });
    assert.deepEqual(decided(needs("user_id == 'u'")), ["allowed_by_layer", 1]);
    assert.deepEqual(decided(needs("user_id == 'v'")), ["denied_channel_condition", 1]);
    assert.deepEqual(decided(needs(failing)), ["denied_condition_error", 1]);
    const denies = inputWith({ 1: email({ enabled: false, condition: failing }) });
    assert.deepEqual(decided(denies), ["denied_by_layer", 1]);
    assert.equal(resolveWithTrace(denies)[0]!.trace[0]!.condition, "none");
  });

  test("a row whose condition fails takes effect only if it denies", () => {
    const allows = inputWith({ 1: { all: false }, 3: { all: true, condition: failing } });
    assert.deepEqual(decided(allows), ["denied_by_layer", 1]);
    assert.deepEqual(effects(allows), ["denies", "absent", "not_counted", "absent", "absent"]);
    assert.deepEqual(decided(inputWith({ 3: { all: false, condition: failing } })), ["denied_condition_error", 3]);
    const locks = inputWith({ 1: { all: false, readOnly: true, condition: failing }, 4: { all: true } });
    assert.deepEqual(decided(locks), ["denied_condition_error", 1]);
    const wouldLock = inputWith({ 1: { all: true, readOnly: true, condition: failing }, 4: { all: false } });
    assert.deepEqual(decided(wouldLock), ["denied_by_layer", 4]);
  });

  test("a row denies when its condition and that of the channel both fail, and failing rows do not affect each other", () => {
    const both = { channels: { email: { enabled: true, readOnly: false, condition: failing } }, condition: failing };
    assert.deepEqual(decided(inputWith({ 3: both })), ["denied_condition_error", 3]);
    const denies = { all: false, condition: failing };
    assert.deepEqual(decided(inputWith({ 1: denies, 3: denies })), ["denied_condition_error", 3]);
    assert.deepEqual(decided(inputWith({ 1: denies, 3: { all: true, condition: failing } })), [
      "denied_condition_error",
      1,
    ]);
    assert.deepEqual(decided(inputWith({ 1: denies, 3: denies, 4: { all: true } })), ["allowed_by_layer", 4]);
  });

  test("a failing condition allows only what would be allowed both with and without a match", () => {
    const property = fc.property(resolveInput, fc.constantFrom(1, 2, 3, 4, 5), (input, layer) => {
      const withCondition = (condition: string): ResolveInput => {
        const on = (settingsOf: PreferenceSettings | undefined, of: number) =>
          settingsOf && of === layer ? { ...settingsOf, condition } : settingsOf;
        const own = input.layers.own.map((row) => ({ ...row, settings: on(row.settings, row.layer)! }));
        const layers = { ...input.layers, user: on(input.layers.user, 2), own };
        return { ...input, workflow: { preferences: on(input.workflow?.preferences, 1) }, layers };
      };
      const [failed, held, ignored] = [failing, "true", "false"].map((condition) => resolve(withCondition(condition)));
      for (const channel of channels) {
        if (!failed!.get(channel)!.allowed) continue;
        assert.ok(held!.get(channel)!.allowed && ignored!.get(channel)!.allowed, channel);
      }
    });
    fc.assert(property, { numRuns: 3000 });
  });

  test("a hostile condition fails within its budget and does not block other decisions", () => {
    const list = `[${Array.from({ length: 60 }, (_, i) => i).join(",")}]`;
    const loop = `${list}.all(a, ${list}.all(b, ${list}.all(c, ${list}.all(d, a + b + c + d >= 0))))`;
    const hostile = Object.fromEntries(
      channels.map((channel) => [channel, { enabled: true, readOnly: false, condition: `${loop} || channel == 'x'` }]),
    );
    const input = inputWith({
      3: { channels: hostile },
      4: { channels: hostile, condition: `${loop} || channel == 'y'` },
    });
    for (const channel of channels) assert.equal(decided(input, channel)[0], "denied_condition_error");
    // Once one condition exceeds the budget, no other of the same decision is evaluated.
    const sms = { enabled: true, readOnly: false, condition: "true" };
    const mixed = inputWith({ 3: { channels: { email: hostile.email, sms } } });
    assert.deepEqual(decided(mixed, "sms"), ["denied_condition_error", 3]);
    assert.deepEqual(decided(inputWith({ 3: { channels: { sms } } }), "sms"), ["allowed_by_layer", 3]);
  });

  test("the conditions of one decision share one work budget, even if each stays within it", () => {
    const list = `[${Array.from({ length: 45 }, (_, i) => i).join(",")}]`;
    // Each uses most of the shared budget.
    const costly = (n: number) => `${list}.all(a, ${list}.all(b, a + b >= 0)) && ${n} > 0`;
    const rule = (n: number) => ({ enabled: true, readOnly: false, condition: costly(n) });
    const all = inputWith({ 3: { channels: { email: rule(1), sms: rule(2), push: rule(3) } } });
    const reasons = (["email", "sms", "push"] as const).map((channel) => decided(all, channel)[0]);
    assert.deepEqual(reasons.toSorted(), ["allowed_by_layer", "allowed_by_layer", "denied_condition_error"]);
  });

  test("a stored condition that is invalid denies", () => {
    assert.deepEqual(decided(inputWith({ 1: email({ enabled: true, condition: "no longer known()" }) })), [
      "denied_condition_error",
      1,
    ]);
  });
});

describe("quiet hours", () => {
  test("deny an allowed channel, unless the winning layer set it read-only", () => {
    const silent = inputWith({ 1: email({ enabled: true, readOnly: true }), 3: { all: true, schedule: always } });
    assert.deepEqual(decided(silent), ["allowed_read_only", 1]);
    assert.deepEqual(decided(silent, "sms"), ["denied_quiet_hours", 3]);
    assert.deepEqual(effects(silent, "sms"), ["silent_on_channel", "absent", "silences", "absent", "absent"]);
    const denied = inputWith({ 1: { schedule: always }, 4: { all: false } });
    assert.deepEqual(decided(denied), ["denied_by_layer", 4]);
    assert.deepEqual(decided(inputWith({ 1: { schedule: always } })), ["denied_quiet_hours", 1]);
  });

  test("of several schedules the strongest applies, even if it is never quiet", () => {
    assert.deepEqual(decided(inputWith({ 1: { schedule: always }, 3: { schedule: never } })), ["allowed_default", 0]);
    assert.deepEqual(decided(inputWith({ 1: { schedule: never }, 3: { schedule: always } })), [
      "denied_quiet_hours",
      3,
    ]);
    const ignored = inputWith({ 1: { schedule: always }, 3: { schedule: never, condition: "false" } });
    assert.deepEqual(decided(ignored), ["denied_quiet_hours", 1]);
  });

  test("of a row whose condition fails apply in addition to the strongest and never replace it", () => {
    const weaker = inputWith({ 1: { schedule: always, condition: failing }, 3: { schedule: never } });
    assert.deepEqual(decided(weaker), ["denied_quiet_hours", 1]);
    const stronger = inputWith({ 1: { schedule: always }, 3: { schedule: never, condition: failing } });
    assert.deepEqual(decided(stronger), ["denied_quiet_hours", 1]);
  });

  test("use the subscriber's time zone", () => {
    const schedule: QuietHours = { timezone: "", ranges: [{ days: ["wed"], start: "20:30", end: "21:30" }] };
    const inTokyo = inputWith({ 3: { schedule } }, { subscriber: subscriberWith({ timezone: "Asia/Tokyo" }) });
    assert.deepEqual(decided(inTokyo), ["denied_quiet_hours", 3]);
    assert.deepEqual(decided(inputWith({ 3: { schedule } })), ["allowed_default", 0]);
  });
});
