import assert from "node:assert/strict";
import { test } from "node:test";
import { isQuiet, quietEndMs } from "./quiet-hours.ts";
import type { Day, QuietHours } from "./settings.ts";
import { isTimezone } from "./wall-clock.ts";

const everyDay: Day[] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const hours = (start: string, end: string, days: Day[] = everyDay, timezone = ""): QuietHours => ({
  timezone,
  ranges: [{ days, start, end }],
});
const isQuietAt = (schedule: QuietHours, at: string, zone = "") => isQuiet(schedule, zone, Date.parse(at));

test("a range includes its start and excludes its end", () => {
  const noon = hours("12:00", "13:30");
  assert.equal(isQuietAt(noon, "2026-03-04T11:59:59.999Z"), false);
  assert.equal(isQuietAt(noon, "2026-03-04T12:00:00Z"), true);
  assert.equal(isQuietAt(noon, "2026-03-04T13:29:59.999Z"), true);
  assert.equal(isQuietAt(noon, "2026-03-04T13:30:00Z"), false);
});

test("a range across midnight belongs to the day on which it starts", () => {
  // 2026-03-02 is a Monday.
  const night = hours("22:00", "07:00", ["mon"]);
  assert.equal(isQuietAt(night, "2026-03-02T06:59:00Z"), false);
  assert.equal(isQuietAt(night, "2026-03-02T21:59:00Z"), false);
  assert.equal(isQuietAt(night, "2026-03-02T22:00:00Z"), true);
  assert.equal(isQuietAt(night, "2026-03-03T00:00:00Z"), true);
  assert.equal(isQuietAt(night, "2026-03-03T06:59:59Z"), true);
  assert.equal(isQuietAt(night, "2026-03-03T07:00:00Z"), false);
  assert.equal(isQuietAt(night, "2026-03-03T22:00:00Z"), false);
  const sunday = hours("23:00", "01:00", ["sun"]);
  assert.equal(isQuietAt(sunday, "2026-03-02T00:30:00Z"), true);
  assert.equal(isQuietAt(sunday, "2026-03-01T00:30:00Z"), false);
});

test("a range can end at midnight, and a range whose end equals its start is the whole day", () => {
  const evening = hours("20:00", "00:00", ["mon"]);
  assert.equal(isQuietAt(evening, "2026-03-02T23:59:59Z"), true);
  assert.equal(isQuietAt(evening, "2026-03-03T00:00:00Z"), false);
  for (const start of ["00:00", "09:00"]) {
    const whole = hours(start, start, ["sat"]);
    assert.equal(isQuietAt(whole, "2026-03-06T23:59:59Z"), false);
    assert.equal(isQuietAt(whole, "2026-03-07T00:00:00Z"), true);
    assert.equal(isQuietAt(whole, "2026-03-07T23:59:59Z"), true);
    assert.equal(isQuietAt(whole, "2026-03-08T00:00:00Z"), false);
  }
});

test("any matching range is quiet, and a schedule without ranges never is", () => {
  const ranges = [...hours("08:00", "09:00").ranges, ...hours("12:00", "13:00").ranges];
  assert.equal(isQuietAt({ timezone: "", ranges }, "2026-03-04T12:30:00Z"), true);
  assert.equal(isQuietAt({ timezone: "", ranges }, "2026-03-04T10:30:00Z"), false);
  assert.equal(isQuietAt({ timezone: "", ranges: [] }, "2026-03-04T12:30:00Z"), false);
});

test("the time zone is the schedule's, else the subscriber's, else UTC", () => {
  const night = "2026-01-15T22:30:00Z"; // 23:30 in Berlin, 07:30 of the next day in Tokyo
  const late = (zone: string) => hours("23:00", "00:00", everyDay, zone);
  assert.equal(isQuietAt(late(""), night), false);
  assert.equal(isQuietAt(late(""), night, "Europe/Berlin"), true);
  assert.equal(isQuietAt(late("Europe/Berlin"), night, "Asia/Tokyo"), true);
  assert.equal(isQuietAt(late("Asia/Tokyo"), night, "Europe/Berlin"), false);
  assert.equal(isQuietAt(hours("07:00", "08:00", ["fri"], "Asia/Tokyo"), night), true);
});

test("when clocks go forward, the missing hour is skipped and the times around it are quiet", () => {
  // In Berlin 02:00 becomes 03:00 on 2026-03-29, at 01:00 UTC.
  const zone = "Europe/Berlin";
  const missing = hours("02:00", "03:00", ["sun"]);
  for (const at of ["00:59:59", "01:00:00", "01:30:00"]) {
    assert.equal(isQuietAt(missing, `2026-03-29T${at}Z`, zone), false, at);
  }
  const night = hours("22:00", "07:00", ["sat"]);
  assert.equal(isQuietAt(night, "2026-03-28T20:59:00Z", zone), false);
  assert.equal(isQuietAt(night, "2026-03-28T21:00:00Z", zone), true);
  assert.equal(isQuietAt(night, "2026-03-29T04:59:59Z", zone), true);
  assert.equal(isQuietAt(night, "2026-03-29T05:00:00Z", zone), false);
  const across = hours("01:30", "02:30", ["sun"]);
  assert.equal(isQuietAt(across, "2026-03-29T00:30:00Z", zone), true);
  assert.equal(isQuietAt(across, "2026-03-29T01:00:00Z", zone), false);
});

test("when clocks go back, the repeated hour is quiet both times", () => {
  // In Berlin 03:00 becomes 02:00 on 2026-10-25, at 01:00 UTC.
  const zone = "Europe/Berlin";
  const twice = hours("02:00", "03:00", ["sun"]);
  assert.equal(isQuietAt(twice, "2026-10-24T23:59:59Z", zone), false);
  for (const at of ["00:00:00", "00:59:59", "01:00:00", "01:59:59"]) {
    assert.equal(isQuietAt(twice, `2026-10-25T${at}Z`, zone), true, at);
  }
  assert.equal(isQuietAt(twice, "2026-10-25T02:00:00Z", zone), false);
  const night = hours("22:00", "07:00", ["sat"]);
  assert.equal(isQuietAt(night, "2026-10-24T19:59:59Z", zone), false);
  assert.equal(isQuietAt(night, "2026-10-24T20:00:00Z", zone), true);
  assert.equal(isQuietAt(night, "2026-10-25T05:59:59Z", zone), true);
  assert.equal(isQuietAt(night, "2026-10-25T06:00:00Z", zone), false);
});

test("the weekday is that of the time zone, also with half-hour offsets and across the date line", () => {
  assert.equal(isQuietAt(hours("05:15", "05:16", ["tue"]), "2026-03-02T23:30:00Z", "Asia/Kathmandu"), true);
  assert.equal(isQuietAt(hours("13:30", "13:31", ["tue"]), "2026-03-02T23:30:00Z", "Pacific/Kiritimati"), true);
  assert.equal(isQuietAt(hours("12:30", "12:31", ["mon"]), "2026-03-02T23:30:00Z", "Pacific/Pago_Pago"), true);
});

test("a time zone is accepted by name only", () => {
  for (const zone of ["Europe/Berlin", "UTC", "America/Argentina/Buenos_Aires"]) assert.ok(isTimezone(zone), zone);
  for (const zone of ["", "+02:00", "Europe/Atlantis", "Berlin time"]) assert.ok(!isTimezone(zone), zone);
});

const endOf = (schedule: QuietHours, at: string, zone = "") => {
  const endMs = quietEndMs(schedule, zone, Date.parse(at));
  return endMs && new Date(endMs).toISOString();
};

test("quiet hours end at the end of their range, also after midnight", () => {
  assert.equal(endOf(hours("22:00", "07:00"), "2026-03-02T23:10:42Z"), "2026-03-03T07:00:00.000Z");
  assert.equal(endOf(hours("22:00", "07:00"), "2026-03-03T06:59:59Z"), "2026-03-03T07:00:00.000Z");
  assert.equal(endOf(hours("22:00", "07:00"), "2026-03-02T23:10:00Z", "Asia/Kathmandu"), "2026-03-03T01:15:00.000Z");
});

test("ranges that follow each other end together, and whole days end at midnight", () => {
  // From Friday evening until Monday morning.
  const weekend: QuietHours = {
    timezone: "",
    ranges: [
      { days: ["fri"], start: "18:00", end: "00:00" },
      { days: ["sat", "sun"], start: "00:00", end: "00:00" },
      { days: ["mon"], start: "00:00", end: "08:00" },
    ],
  };
  assert.equal(endOf(weekend, "2026-03-06T18:00:00Z"), "2026-03-09T08:00:00.000Z");
});

test("quiet hours that are given hour by hour end after the last hour", () => {
  const clock = (hour: number) => `${String(hour % 24).padStart(2, "0")}:00`;
  const weekend: QuietHours = {
    timezone: "",
    ranges: Array.from({ length: 24 }, (_, hour) => ({
      days: ["sat", "sun"],
      start: clock(hour),
      end: clock(hour + 1),
    })),
  };
  assert.equal(endOf(weekend, "2026-03-07T00:30:00Z"), "2026-03-09T00:00:00.000Z");
  const week = { ...weekend, ranges: weekend.ranges.map((range) => ({ ...range, days: everyDay })) };
  assert.equal(endOf(week, "2026-03-07T00:30:00Z"), undefined);
});

test("quiet hours that cover the whole week never end", () => {
  assert.equal(endOf(hours("00:00", "00:00"), "2026-03-06T18:00:00Z"), undefined);
});

test("quiet hours end by local time when clocks change during them", () => {
  const night = hours("22:00", "07:00", everyDay, "Europe/Berlin");
  // Clocks go forward on 2026-03-29 and back on 2026-10-25.
  assert.equal(endOf(night, "2026-03-28T22:00:00Z"), "2026-03-29T05:00:00.000Z");
  assert.equal(endOf(night, "2026-10-24T21:00:00Z"), "2026-10-25T06:00:00.000Z");
  // 02:30 does not exist on that day.
  const early = hours("22:00", "02:30", everyDay, "Europe/Berlin");
  assert.equal(endOf(early, "2026-03-28T22:00:00Z"), "2026-03-29T01:00:00.000Z");
});
