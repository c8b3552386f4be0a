import assert from "node:assert/strict";
import { test } from "node:test";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Overlap, Timing } from "./domain/schedule.ts";
import { decideRuns, runIdOf } from "./due-runs.ts";
import type { DueSchedule, UnsettledRun } from "./run-store.ts";

const minuteMs = 60_000;
const nineMs = Date.parse("2026-06-01T09:00:00Z");
const scheduleId = "01JZ0000000000000000000001";

function scheduleWith(timing: Partial<Timing>, more: Partial<DueSchedule> = {}): DueSchedule {
  return {
    tenantId: "01JZ0000000000000000000000" as TenantId,
    id: scheduleId,
    name: "report",
    item: { pool_id: "01JZ0000000000000000000002", type: "report", payload: { at: "=string(schedule.time)" } },
    timing: {
      cron: "* * * * *",
      timezone: "UTC",
      overlap: "skip",
      catchUp: "latest",
      catchUpS: 60,
      jitterS: 0,
      ...timing,
    },
    nextAt: new Date(nineMs),
    ...more,
  } as DueSchedule;
}

const routedRun = (timeMs: number, itemId: string) =>
  ({ id: runIdOf(scheduleId, timeMs), state: "routed", open: true, itemId, time: new Date(timeMs) }) as UnsettledRun;

/** The times and states of the runs that are recorded, and the next time. */
function decide(timing: Partial<Timing>, nowMs: number, unsettled: UnsettledRun[] = [], unfinished: string[] = []) {
  const decided = decideRuns(scheduleWith(timing), unsettled, new Set(unfinished), nowMs)!;
  const clock = (date: Date | null) => date?.toISOString().slice(11, 16);
  return { runs: decided.recorded.map(({ time, state }) => `${clock(time)} ${state}`), next: clock(decided.nextAt) };
}

test("a time that has come starts a run, whose id and request follow from the time", () => {
  const decided = decideRuns(scheduleWith({}), [], new Set(), nineMs + 100)!;
  const [run] = decided.recorded;
  assert.equal(run!.id, runIdOf(scheduleId, nineMs));
  assert.deepEqual(decided.begun, [run!.id]);
  assert.deepEqual(run!.request!.payload, { at: "2026-06-01T09:00:00Z" });
  assert.equal(decideRuns(scheduleWith({}), [], new Set(), nineMs + 900)!.recorded[0]!.id, run!.id);
});

test("nothing is decided before the time has come", () => {
  assert.equal(decideRuns(scheduleWith({}), [], new Set(), nineMs - 1), undefined);
  assert.equal(decideRuns(scheduleWith({}, { nextAt: null }), [], new Set(), nineMs), undefined);
});

test("of several missed times the last one fires, if it is not too old", () => {
  assert.deepEqual(decide({ catchUpS: 300 }, nineMs + 5.5 * minuteMs), { runs: ["09:05 starting"], next: "09:06" });
  const daily = { cron: "0 9 * * *", catchUpS: 60 };
  assert.deepEqual(decide(daily, nineMs + 5 * minuteMs), { runs: ["09:00 missed"], next: "09:00" });
});

test("with catch_up all, each missed time fires that is not too old", () => {
  const timing = { catchUp: "all", catchUpS: 150, overlap: "allow" } as const;
  const runs = ["09:02 missed", "09:03 starting", "09:04 starting", "09:05 starting"];
  assert.deepEqual(decide(timing, nineMs + 5.5 * minuteMs), { runs, next: "09:06" });
  const many = decide({ ...timing, catchUpS: 7200 }, nineMs + 90 * minuteMs);
  assert.deepEqual([many.runs.length, many.runs.at(-1), many.next], [50, "09:49 starting", "09:50"]);
});

const whileUnfinished: Record<Overlap, string> = {
  skip: "09:00 skipped",
  allow: "09:00 starting",
  cancel_running: "09:00 starting",
  queue_one: "09:00 waiting",
};

for (const [overlap, expected] of Object.entries(whileUnfinished) as [Overlap, string][]) {
  test(`overlap ${overlap}: while an earlier item is unfinished, the run is ${expected.slice(6)}`, () => {
    const earlier = routedRun(nineMs - minuteMs, "item");
    assert.deepEqual(decide({ overlap }, nineMs, [earlier], ["item"]).runs, [expected]);
    assert.deepEqual(decide({ overlap }, nineMs, [earlier], []).runs, ["09:00 starting"], "the item has ended");
  });
}

test("queue_one keeps one run waiting, which starts when the earlier item has ended", () => {
  const waiting = { id: "waiting", state: "waiting", open: false, itemId: "", time: new Date(nineMs - minuteMs) };
  const earlier = [routedRun(nineMs - 2 * minuteMs, "item"), waiting as UnsettledRun];
  assert.deepEqual(decide({ overlap: "queue_one" }, nineMs, earlier, ["item"]).runs, ["09:00 skipped"]);
  const decided = decideRuns(scheduleWith({ overlap: "queue_one" }), earlier, new Set(), nineMs - 1)!;
  assert.equal(decided.resumed!.id, "waiting");
  assert.deepEqual(decided.resumed!.request!.payload, { at: "2026-06-01T08:59:00Z" });
  assert.deepEqual(decided.endedRunIds, [earlier[0]!.id]);
});

test("a run that is still being routed counts as unfinished", () => {
  const starting = { ...routedRun(nineMs - minuteMs, ""), state: "starting", open: false } as UnsettledRun;
  assert.deepEqual(decide({ overlap: "skip" }, nineMs, [starting]).runs, ["09:00 skipped"]);
});

test("with cancel_running, only the last of several times starts a run", () => {
  const timing = { overlap: "cancel_running", catchUp: "all", catchUpS: 300 } as const;
  const { runs } = decide(timing, nineMs + 2 * minuteMs);
  assert.deepEqual(runs, ["09:00 skipped", "09:01 skipped", "09:02 starting"]);
});

test("with cancel_running, a time that starts a run supersedes postponed runs that are known to have no item", () => {
  const postponed = (minutes: number, more: Partial<UnsettledRun>) =>
    ({
      ...routedRun(nineMs - minutes * minuteMs, ""),
      ...{ state: "starting", open: false, cause: "schedule", errorCode: "routing_failed", ...more },
    }) as UnsettledRun;
  const refused = postponed(1, {});
  const runs = [postponed(3, { errorCode: "" }), postponed(2, { cause: "manual" }), refused];
  const supersededWith = (overlap: Overlap, nowMs = nineMs) =>
    decideRuns(scheduleWith({ overlap }), runs, new Set(), nowMs)?.supersededRunIds;
  assert.deepEqual(supersededWith("cancel_running"), [refused.id]);
  assert.equal(supersededWith("cancel_running", nineMs - 1), undefined, "no time has come");
  for (const overlap of ["skip", "allow", "queue_one"] as const) assert.deepEqual(supersededWith(overlap), [], overlap);
});

test("jitter delays a run and neither merges nor drops times", () => {
  const timing = { jitterS: 3600, cron: "0 * * * *" };
  const decided = decideRuns(scheduleWith(timing), [], new Set(), nineMs + 3_600_000)!;
  assert.equal(decided.recorded.length, 1);
  const delayMs = decided.firesAt!.getTime() - decided.nextAt!.getTime();
  assert.ok(delayMs > 0 && delayMs < 3_600_000);
  assert.equal(decideRuns(scheduleWith(timing), [], new Set(), nineMs + delayMs - 1), undefined);
});

test("a run whose expression fails has no request and says why", () => {
  const schedule = scheduleWith({}, { item: { pool_id: "p", type: "t", key: "=schedule.nothing" } });
  const [run] = decideRuns(schedule, [], new Set(), nineMs)!.recorded;
  assert.deepEqual([run!.state, run!.request, run!.errorCode], ["starting", null, "expression_error"]);
});
