import assert from "node:assert/strict";
import { test } from "node:test";
import type { Day } from "./settings.ts";
import { nextTimeMs } from "./wall-clock.ts";

const next = (zone: string, time: string, at: string, days: readonly Day[] = []) =>
  new Date(nextTimeMs(zone, time, days, Date.parse(at))).toISOString();

test("the next time of day is today if it is still to come, and tomorrow otherwise", () => {
  assert.equal(next("UTC", "09:00", "2026-03-02T08:59:59Z"), "2026-03-02T09:00:00.000Z");
  assert.equal(next("UTC", "09:00", "2026-03-02T09:00:00Z"), "2026-03-03T09:00:00.000Z");
  assert.equal(next("UTC", "09:00", "2026-03-02T09:00:30Z"), "2026-03-03T09:00:00.000Z");
  assert.equal(next("America/New_York", "00:00", "2026-01-02T04:59:00Z"), "2026-01-02T05:00:00.000Z");
});

test("only the given days count", () => {
  // 2026-03-02 is a Monday.
  assert.equal(next("UTC", "09:00", "2026-03-02T10:00:00Z", ["mon"]), "2026-03-09T09:00:00.000Z");
  assert.equal(next("UTC", "09:00", "2026-03-02T10:00:00Z", ["sun", "wed"]), "2026-03-04T09:00:00.000Z");
});

test("the time is local time also when clocks change on the way", () => {
  assert.equal(next("Europe/Berlin", "09:00", "2026-03-28T10:00:00Z"), "2026-03-29T07:00:00.000Z");
  assert.equal(next("Europe/Berlin", "09:00", "2026-10-24T10:00:00Z"), "2026-10-25T08:00:00.000Z");
});

test("a time that does not exist is right after the gap, and one that occurs twice is its first occurrence", () => {
  assert.equal(next("Europe/Berlin", "02:30", "2026-03-28T10:00:00Z"), "2026-03-29T01:00:00.000Z");
  assert.equal(next("Europe/Berlin", "02:30", "2026-03-29T01:00:00Z"), "2026-03-30T00:30:00.000Z");
  assert.equal(next("Europe/Berlin", "02:30", "2026-10-24T10:00:00Z"), "2026-10-25T00:30:00.000Z");
  assert.equal(next("Europe/Berlin", "02:30", "2026-10-25T00:30:00Z"), "2026-10-26T01:30:00.000Z");
});
