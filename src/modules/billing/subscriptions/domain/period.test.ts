import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../test/harness/random.ts";
import { periodStart } from "./period.ts";

test("periods that start on the 31st end on the last day of shorter months and return to the 31st", () => {
  const anchor = new Date("2027-12-31T10:30:00.000Z");
  const starts = [0, 1, 2, 3, 4].map((number) => periodStart(anchor, "month", number).toISOString().slice(0, 10));
  assert.deepEqual(starts, ["2027-12-31", "2028-01-31", "2028-02-29", "2028-03-31", "2028-04-30"]);
  assert.equal(periodStart(anchor, "month", 1).toISOString().slice(10), "T10:30:00.000Z");
});

test("a year from the 29th of February starts on the 28th in other years", () => {
  const anchor = new Date("2028-02-29T00:00:00.000Z");
  const starts = [1, 4].map((number) => periodStart(anchor, "year", number).toISOString().slice(0, 10));
  assert.deepEqual(starts, ["2029-02-28", "2032-02-29"]);
});

test("periods follow each other, last 28 to 31 days or 365 to 366 days, and keep the time of day", () => {
  const anchors = fc.date({ min: new Date("2000-01-01"), max: new Date("2090-01-01"), noInvalidDate: true });
  fc.assert(
    fc.property(
      anchors,
      fc.constantFrom("month", "year"),
      fc.integer({ min: 0, max: 40 }),
      (anchor, interval, number) => {
        const start = periodStart(anchor, interval, number);
        const end = periodStart(anchor, interval, number + 1);
        const days = (end.getTime() - start.getTime()) / 86_400_000;
        const [least, most] = interval === "month" ? [28, 31] : [365, 366];
        assert.ok(Number.isInteger(days) && days >= least && days <= most, `${days} days`);
        assert.equal(periodStart(anchor, interval, 0).getTime(), anchor.getTime());
      },
    ),
  );
});
