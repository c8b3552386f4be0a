import assert from "node:assert/strict";
import { test } from "node:test";
import { fail } from "../../errors/index.ts";
import type { Call } from "../call.ts";
import { bodyDecoder } from "./body-decoder.ts";

/** Runs the step for a call of this age whose caller has lost its access; returns whether it reached the handler. */
async function handledAt(ageMs: number): Promise<boolean> {
  const step = bodyDecoder({
    refusals: [],
    throttle: () => undefined,
    chargeBytes: undefined,
    bodyBytesMax: 1000,
    recheckAccess: () => Promise.reject(fail("UNAUTHENTICATED")),
  });
  let handled = false;
  const call = {
    startedAtMs: performance.now() - ageMs,
    header: () => undefined,
    decode: async () => ({}),
  } as unknown as Call;
  const next = async () => {
    handled = true;
    return {} as never;
  };
  if (ageMs >= 1000) await assert.rejects(step(call, next), { code: "UNAUTHENTICATED" });
  else await step(call, next);
  return handled;
}

test("a call whose body takes a second or longer is refused if its caller has lost its access meanwhile", async () => {
  assert.equal(await handledAt(1000), false);
});

test("a call whose body arrives sooner is not checked again", async () => {
  // A start in the future: the test itself may be slow.
  assert.equal(await handledAt(-60_000), true);
});
