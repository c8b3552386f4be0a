import assert from "node:assert/strict";
import { test } from "node:test";
import type { HistoryEvent } from "./history.ts";
import { checkInvariant, type Invariant } from "./invariant.ts";
import { repeatedCalls } from "./invariants/call-invariants.ts";
import { orderedEvents } from "./invariants/event-invariants.ts";
import {
  capacities,
  exclusiveLeases,
  fences,
  keptItems,
  singleCompletions,
  singleItems,
} from "./invariants/queue-invariants.ts";

type Parts = Partial<HistoryEvent> & Pick<HistoryEvent, "kind" | "name">;

/** An event of an item at a time. */
function event(atMs: number, facts: HistoryEvent["facts"], parts: Parts): HistoryEvent {
  return { subject: "item 1", startMs: atMs, endMs: atMs + 10, facts, ...parts };
}

const route = (item: string, subject = "item 1") =>
  event(0, { item }, { kind: "acknowledged", name: "route", subject });
const observed = (item: string, state: string) => event(900, { item, state }, { kind: "observed", name: "item" });
const held = (fromMs: number, toMs: number, attempt: number, facts: HistoryEvent["facts"] = {}) =>
  event(fromMs, { attempt, ...facts }, { kind: "held", name: "lease", endMs: toMs });
const completed = (atMs: number, attempt: number) =>
  event(atMs, { attempt, state: "completed" }, { kind: "acknowledged", name: "complete" });
const publish = (number: number) => event(0, { number }, { kind: "acknowledged", name: "publish" });
const arrived = (number: number, position: number) =>
  event(500, { number, position }, { kind: "observed", name: "event" });
const others = Array.from({ length: 40 }, (_, n) => route(`other ${n}`, `item ${n + 2}`));

const cases: readonly {
  readonly title: string;
  readonly invariant: Invariant;
  readonly sound: readonly HistoryEvent[];
  /** The events that show the violation, and no others. */
  readonly broken: readonly HistoryEvent[];
  /** Events about the same item that have nothing to do with it. */
  readonly beside?: readonly HistoryEvent[];
}[] = [
  {
    title: "an acknowledged item that is gone was lost",
    invariant: keptItems,
    sound: [route("a"), observed("a", "completed")],
    broken: [route("a"), observed("a", "absent")],
  },
  {
    title: "an item that exists twice had its effect twice",
    invariant: singleItems,
    sound: [route("a"), observed("a", "completed")],
    broken: [route("a"), observed("b", "completed")],
    beside: [observed("a", "completed")],
  },
  {
    title: "completions under two leases are one too many",
    invariant: singleCompletions,
    sound: [completed(10, 1), completed(50, 1)],
    broken: [completed(10, 1), completed(90, 2)],
    beside: [completed(20, 1)],
  },
  {
    title: "two leases at the same time are one too many",
    invariant: exclusiveLeases,
    sound: [held(0, 100, 1), held(100, 200, 2)],
    broken: [held(0, 100, 1), held(99, 200, 2)],
    beside: [held(300, 400, 3), held(500, 600, 4)],
  },
  {
    title: "a report under an old lease that is accepted breaks the fence",
    invariant: fences,
    sound: [held(0, 100, 1), completed(50, 1), held(200, 300, 2)],
    broken: [held(200, 300, 2), completed(250, 1)],
    beside: [held(0, 100, 1), held(400, 500, 1)],
  },
  {
    title: "more leases than the capacity are too many",
    invariant: capacities,
    sound: [held(0, 100, 1, { recipient: "r", capacity: 1 }), held(100, 200, 2, { recipient: "r", capacity: 1 })],
    broken: [held(0, 100, 1, { recipient: "r", capacity: 1 }), held(50, 200, 2, { recipient: "r", capacity: 1 })],
    beside: [held(300, 400, 1, { recipient: "r", capacity: 1 })],
  },
  {
    title: "an event that arrives before an earlier one is out of order",
    invariant: orderedEvents,
    sound: [arrived(1, 1), arrived(2, 2)],
    broken: [arrived(7, 9), arrived(8, 8)],
    beside: [arrived(5, 5), arrived(6, 6), arrived(9, 10)],
  },
  {
    title: "an event that is acknowledged and never arrives was lost",
    invariant: orderedEvents,
    sound: [publish(1), arrived(1, 4)],
    broken: [publish(2), arrived(2, 0)],
    beside: [publish(1), arrived(1, 4)],
  },
  {
    title: "a repeated call with another answer was not recognised",
    invariant: repeatedCalls,
    sound: [event(0, { first: "x", repeat: "x" }, { kind: "observed", name: "repeated call" })],
    broken: [event(0, { first: "x", repeat: "y" }, { kind: "observed", name: "repeated call" })],
  },
];

for (const { title, invariant, sound, broken, beside = [] } of cases) {
  test(`${title}, and the smallest history shows it`, () => {
    assert.deepEqual(checkInvariant(invariant, [...others, ...sound]).violations, []);
    const crash = event(5, { node: 2 }, { kind: "fault", name: "kill", subject: "node 2" });
    const events = [...others, ...beside, crash, ...broken];
    const { violations, tested } = checkInvariant(invariant, events);
    assert.ok(tested > 0);
    assert.equal(violations.length, 1);
    assert.deepEqual(violations[0]!.history, broken);
    assert.deepEqual(violations[0]!.faults, [crash]);
  });
}

test("only late reports test the fence, also those that are refused", () => {
  const leases = [held(0, 100, 1), completed(50, 1), held(200, 300, 2)];
  assert.equal(checkInvariant(fences, leases).tested, 0);
  const late = { ...completed(250, 1), kind: "refused" as const };
  const { tested, violations } = checkInvariant(fences, [...leases, late]);
  assert.deepEqual([tested, violations], [1, []]);
});
