import assert from "node:assert/strict";
import { test } from "node:test";
import { type CronTimes, readCron } from "./cron-times.ts";

function times(cron: string, zone: string): CronTimes {
  const read = readCron(cron, zone);
  assert.ok("after" in read, JSON.stringify(read));
  return read;
}

/** The times of an expression after an instant. */
function list(cron: string, zone: string, from: string, count: number): string[] {
  const { after } = times(cron, zone);
  const found: string[] = [];
  for (let at = after(Date.parse(from)); at !== undefined && found.length < count; at = after(at)) {
    found.push(new Date(at).toISOString().replace(".000Z", "Z"));
  }
  return found;
}

test("an expression is read in its time zone", () => {
  assert.deepEqual(list("0 9 * * 1-5", "America/New_York", "2026-07-03T00:00:00Z", 2), [
    "2026-07-03T13:00:00Z",
    "2026-07-06T13:00:00Z",
  ]);
  assert.deepEqual(list("0 9 * * *", "UTC", "2026-07-03T09:00:00Z", 1), ["2026-07-04T09:00:00Z"]);
});

test("six fields start with seconds", () => {
  assert.deepEqual(list("*/20 * * * * *", "UTC", "2026-01-01T00:00:00Z", 3), [
    "2026-01-01T00:00:20Z",
    "2026-01-01T00:00:40Z",
    "2026-01-01T00:01:00Z",
  ]);
});

test("a time that does not exist runs once, right after the gap", () => {
  // Berlin skips 02:00 to 03:00 on 29 March 2026, which ends at 01:00 UTC.
  assert.deepEqual(list("30 2 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z", 3), [
    "2026-03-28T01:30:00Z",
    "2026-03-29T01:00:00Z",
    "2026-03-30T00:30:00Z",
  ]);
  // New York skips 02:00 to 03:00 on 8 March 2026, which ends at 07:00 UTC.
  assert.deepEqual(list("15 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", 2), [
    "2026-03-08T07:00:00Z",
    "2026-03-09T06:15:00Z",
  ]);
});

test("several times in a gap run once together, also with the time right after it", () => {
  assert.deepEqual(list("0,20,40 2,3 29 3 *", "Europe/Berlin", "2026-03-28T12:00:00Z", 3), [
    "2026-03-29T01:00:00Z",
    "2026-03-29T01:20:00Z",
    "2026-03-29T01:40:00Z",
  ]);
});

test("a time that occurs twice runs once, at its first occurrence", () => {
  // Berlin repeats 02:00 to 03:00 on 25 October 2026, first from 00:00 UTC.
  assert.deepEqual(list("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2), [
    "2026-10-25T00:30:00Z",
    "2026-10-26T01:30:00Z",
  ]);
  // New York repeats 01:00 to 02:00 on 1 November 2026, first from 05:00 UTC.
  assert.deepEqual(list("30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", 2), [
    "2026-11-01T05:30:00Z",
    "2026-11-02T06:30:00Z",
  ]);
});

test("no time follows in the second pass of a repeated hour", () => {
  assert.deepEqual(list("*/15 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", 1), ["2026-10-26T01:00:00Z"]);
});

test("an expression for every hour runs by elapsed time when clocks are moved", () => {
  assert.deepEqual(list("30 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", 3), [
    "2026-03-29T00:30:00Z",
    "2026-03-29T01:30:00Z",
    "2026-03-29T02:30:00Z",
  ]);
  assert.deepEqual(list("0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", 4), [
    "2026-10-25T00:00:00Z",
    "2026-10-25T01:00:00Z",
    "2026-10-25T02:00:00Z",
    "2026-10-25T03:00:00Z",
  ]);
  // Lord Howe Island moves its clocks by half an hour.
  assert.deepEqual(list("0 * * * *", "Australia/Lord_Howe", "2026-10-03T14:45:00Z", 2), [
    "2026-10-03T16:00:00Z",
    "2026-10-03T17:00:00Z",
  ]);
});

test("a year of daily times has one time per day, in zones with and without daylight saving", () => {
  for (const zone of ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Africa/Cairo"]) {
    const day = new Intl.DateTimeFormat("en-CA", { timeZone: zone });
    for (const cron of ["30 2 * * *", "15 1 * * *", "0 0 * * *", "45 23 * * *"]) {
      const found = list(cron, zone, "2025-12-31T12:00:00Z", 365);
      const days = new Set(found.map((at) => day.format(new Date(at))));
      assert.equal(days.size, 365, `${cron} ${zone}`);
    }
  }
});

test("the latest time is found for dense and for sparse expressions", () => {
  const at = Date.parse("2026-06-15T10:20:30Z");
  const from = Date.parse("2026-01-01T00:00:00Z");
  const latest = (cron: string, fromMs = from) => {
    const found = times(cron, "UTC").latest(at, fromMs);
    return found === undefined ? undefined : new Date(found).toISOString();
  };
  assert.equal(latest("* * * * * *"), "2026-06-15T10:20:30.000Z");
  assert.equal(latest("0 * * * *"), "2026-06-15T10:00:00.000Z");
  assert.equal(latest("0 0 1 * *"), "2026-06-01T00:00:00.000Z");
  assert.equal(latest("0 0 1 2 *"), "2026-02-01T00:00:00.000Z");
  assert.equal(latest("* * * 1 1 *"), "2026-01-01T23:59:59.000Z");
  assert.equal(latest("0 0 1 2 *", Date.parse("2026-02-01T00:00:00Z")), "2026-02-01T00:00:00.000Z");
  assert.equal(latest("0 0 1 2 *", Date.parse("2026-02-01T00:00:01Z")), undefined);
});

test("what cannot be used is refused with a reason", () => {
  const refusal = (cron: string, zone = "UTC") => {
    const read = readCron(cron, zone);
    assert.ok("field" in read);
    return `${read.field} ${read.message}`;
  };
  assert.match(refusal("* * * *"), /^cron must have five fields/);
  assert.match(refusal("@daily"), /^cron must have five fields/);
  assert.match(refusal("61 * * * *"), /^cron must be a cron expression: .*61/);
  assert.match(refusal("0 0 31 2 *"), /^cron must match a date that exists/);
  assert.match(refusal("0 0 * * *", "Mars/Olympus"), /^timezone must be an IANA/);
  assert.match(refusal("0 0 * * *", "+02:00"), /^timezone must be an IANA/);
});
