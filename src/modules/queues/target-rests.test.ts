import assert from "node:assert/strict";
import { test } from "node:test";
import type { PushTarget } from "./push-store.ts";
import { TargetRests } from "./target-rests.ts";

const target = (poolId: string, recipientId: string): PushTarget => ({ tenantId: "t" as never, poolId, recipientId });

test("a target rests until its time, and only that target", () => {
  const rests = new TargetRests();
  rests.add(target("p", "r"), 100, "throttled");
  assert.equal(rests.untilMs(target("p", "r"), 99), 100);
  assert.equal(rests.untilMs(target("p", "other"), 99), undefined);
  assert.equal(rests.untilMs(target("q", "r"), 99), undefined);
  assert.equal(rests.untilMs(target("p", "r"), 100), undefined);
});

test("what happens in a pool lets its saturated targets be asked, and its throttled ones rest on", () => {
  const rests = new TargetRests();
  rests.add(target("p", "throttled"), 100, "throttled");
  rests.add(target("p", "saturated"), 100, "saturated");
  rests.add(target("q", "saturated"), 100, "saturated");
  rests.poolChanged("t", "p");
  assert.equal(rests.untilMs(target("p", "throttled"), 0), 100);
  assert.equal(rests.untilMs(target("p", "saturated"), 0), undefined);
  assert.equal(rests.untilMs(target("q", "saturated"), 0), 100);
});

test("no more targets are remembered than the bound, the latest among them", () => {
  const rests = new TargetRests(3);
  for (let nth = 0; nth < 10; nth++) rests.add(target(`p${nth % 2}`, `r${nth}`), 100, "throttled");
  const known = Array.from({ length: 10 }, (_, nth) => rests.untilMs(target(`p${nth % 2}`, `r${nth}`), 0));
  assert.equal(known.filter((each) => each !== undefined).length, 3);
  assert.equal(known.at(-1), 100);
});
