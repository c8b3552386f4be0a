import assert from "node:assert/strict";
import { test } from "node:test";
import { PushBackoff } from "./push-backoff.ts";
import type { PushTarget } from "./push-store.ts";

const target = (poolId: string, recipientId: string): PushTarget => ({ tenantId: "t" as never, poolId, recipientId });

test("only the given target backs off, until the given time", () => {
  const backoff = new PushBackoff();
  backoff.add(target("p", "r"), 100);
  assert.equal(backoff.untilMs(target("p", "r"), 99), 100);
  assert.equal(backoff.untilMs(target("p", "other"), 99), undefined);
  assert.equal(backoff.untilMs(target("q", "r"), 99), undefined);
  assert.equal(backoff.untilMs(target("p", "r"), 100), undefined);
});

test("a change in a pool ends the back-off of its targets only", () => {
  const backoff = new PushBackoff();
  backoff.add(target("p", "r"), 100);
  backoff.add(target("q", "r"), 100);
  backoff.clearPool("t", "p");
  assert.equal(backoff.untilMs(target("p", "r"), 0), undefined);
  assert.equal(backoff.untilMs(target("q", "r"), 0), 100);
});

test("the number of remembered targets is bounded, and the latest is among them", () => {
  const backoff = new PushBackoff(3);
  for (let nth = 0; nth < 10; nth++) backoff.add(target(`p${nth % 2}`, `r${nth}`), 100);
  const known = Array.from({ length: 10 }, (_, nth) => backoff.untilMs(target(`p${nth % 2}`, `r${nth}`), 0));
  assert.equal(known.filter((each) => each !== undefined).length, 3);
  assert.equal(known.at(-1), 100);
});
