import assert from "node:assert/strict";
import { test } from "node:test";
import { failsWith, freshTenant, testDatabase } from "../../../test/harness/context.ts";
import { type Claim, claim, complete, forgetRecords, storedResponse } from "./index.ts";

const db = await testDatabase();

function newClaim(choice: Partial<Claim> = {}): Claim {
  return {
    tenantId: freshTenant(),
    principal: "key:1",
    operation: "service.api.Test/Make",
    key: "k",
    fingerprint: Buffer.from("the request"),
    createdAt: new Date(),
    ...choice,
  };
}

/** Carries out a claim as the chain does; undefined when it was not this call's to carry out. */
function carryOut(claimed: Claim, response: string): Promise<string | undefined> {
  return db.transaction(async (tx) => {
    if (!(await claim(tx, claimed))) return undefined;
    await complete(tx, { ...claimed, response });
    return response;
  });
}

test("a key is claimed once, and its answer is given again", async () => {
  const claimed = newClaim();
  assert.equal(await carryOut(claimed, "first"), "first");
  assert.equal(await carryOut(claimed, "second"), undefined);
  assert.equal(await storedResponse(db.sql, claimed), "first");
});

test("keys of another tenant, principal or operation are other keys", async () => {
  const claimed = newClaim();
  await carryOut(claimed, "first");
  for (const other of [{ tenantId: freshTenant() }, { principal: "key:2" }, { operation: "other" }, { key: "K" }]) {
    assert.equal(await carryOut({ ...claimed, ...other }, "another"), "another");
  }
});

test("of many at once one gets the claim, and the others are told at once instead of waiting", async () => {
  const claimed = newClaim();
  const proceed = Promise.withResolvers<void>();
  const holding = Promise.withResolvers<void>();
  const first = db.transaction(async (tx) => {
    assert.equal(await claim(tx, claimed), true);
    holding.resolve();
    await proceed.promise;
    await complete(tx, { ...claimed, response: "first" });
  });
  await holding.promise;
  const others = await Promise.all(Array.from({ length: 5 }, () => carryOut(claimed, "other")));
  assert.deepEqual(new Set(others), new Set([undefined]));
  await assert.rejects(storedResponse(db.sql, claimed), failsWith("IDEMPOTENCY_IN_PROGRESS"));
  proceed.resolve();
  await first;
  assert.equal(await storedResponse(db.sql, claimed), "first");
});

test("a claim whose effect was undone is free again", async () => {
  const claimed = newClaim();
  await assert.rejects(
    db.transaction(async (tx) => {
      await claim(tx, claimed);
      throw new Error("no effect");
    }),
  );
  assert.equal(await carryOut(claimed, "second"), "second");
});

test("the same key with another request is refused", async () => {
  const claimed = newClaim();
  await carryOut(claimed, "first");
  const other = { ...claimed, fingerprint: Buffer.from("another request") };
  await assert.rejects(storedResponse(db.sql, other), failsWith("IDEMPOTENCY_KEY_REUSED"));
});

test("records are forgotten from before a moment, the oldest first and no more than asked for at once", async () => {
  const ages = [5, 4, 3, 2, 1];
  const claims = ages.map((days) => newClaim({ createdAt: new Date(Date.now() - (days + 1000) * 86_400_000) }));
  for (const each of claims) await carryOut(each, "kept");
  const before = new Date(Date.now() - 1002.5 * 86_400_000);
  assert.equal(await forgetRecords(db.sql, before, 2), 2);
  await assert.rejects(storedResponse(db.sql, claims[1]!), failsWith("IDEMPOTENCY_IN_PROGRESS"));
  assert.equal(await storedResponse(db.sql, claims[2]!), "kept");
  assert.equal(await forgetRecords(db.sql, before, 2), 1);
  assert.equal(await forgetRecords(db.sql, before, 2), 0);
  assert.equal(await storedResponse(db.sql, claims[3]!), "kept");
  assert.equal(await carryOut(claims[0]!, "anew"), "anew");
});
