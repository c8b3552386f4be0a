import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "@bufbuild/protobuf";
import { failsWith, freshTenant, testDatabase } from "../../../test/harness/context.ts";
import {
  claimBatch,
  deleteExpiredRecords,
  type KeyClaim,
  type KeyedCall,
  readStoredResponse,
  recordResponse,
  unlessRepeated,
  withIdempotency,
} from "./index.ts";

const db = await testDatabase();

function newClaim(choice: Partial<KeyClaim> = {}): KeyClaim {
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

/** The name of a message's type stands for its contents. */
function messageOf(text: string): Message {
  return { $typeName: text };
}

function keyedOf(claim: KeyClaim): KeyedCall {
  return { claim, record: ({ $typeName }) => ({ ...claim, response: $typeName }) };
}

/** Runs a call without an effect; undefined when the key was taken. */
async function carryOut(claimed: KeyClaim, text: string): Promise<string | undefined> {
  const response = messageOf(text);
  const done = await db.transaction((tx) => withIdempotency(tx, keyedOf(claimed), async () => ({ response })));
  return done === "duplicate" ? undefined : done.response.$typeName;
}

test("a key is claimed once, and its response is returned to repeated requests", async () => {
  const claimed = newClaim();
  assert.equal(await carryOut(claimed, "first"), "first");
  assert.equal(await carryOut(claimed, "second"), undefined);
  assert.equal(await readStoredResponse(db.sql, claimed), "first");
});

test("the same key of another tenant, principal or operation is a different key", async () => {
  const claimed = newClaim();
  await carryOut(claimed, "first");
  for (const other of [{ tenantId: freshTenant() }, { principal: "key:2" }, { operation: "other" }, { key: "K" }]) {
    assert.equal(await carryOut({ ...claimed, ...other }, "another"), "another");
  }
});

test("one of many concurrent requests gets the claim, and the others fail immediately instead of waiting", async () => {
  const claimed = newClaim();
  const proceed = Promise.withResolvers<void>();
  const holding = Promise.withResolvers<void>();
  const first = db.transaction((tx) =>
    withIdempotency(tx, keyedOf(claimed), async () => {
      holding.resolve();
      await proceed.promise;
      return { response: messageOf("first") };
    }),
  );
  await holding.promise;
  const others = await Promise.all(Array.from({ length: 5 }, () => carryOut(claimed, "other")));
  assert.deepEqual(new Set(others), new Set([undefined]));
  const record = () => recordResponse(db.sql, keyedOf(claimed), messageOf("other"));
  await assert.rejects(unlessRepeated(db.sql, keyedOf(claimed), record), failsWith("IDEMPOTENCY_IN_PROGRESS"));
  await assert.rejects(readStoredResponse(db.sql, claimed), failsWith("IDEMPOTENCY_IN_PROGRESS"));
  proceed.resolve();
  await first;
  assert.equal(await readStoredResponse(db.sql, claimed), "first");
});

test("a key whose transaction was rolled back can be claimed again", async () => {
  const claimed = newClaim();
  await assert.rejects(
    db.transaction((tx) => withIdempotency(tx, keyedOf(claimed), () => Promise.reject(new Error("no effect")))),
    /no effect/,
  );
  assert.equal(await carryOut(claimed, "second"), "second");
});

test("the loser of two concurrent calls rolls its effect back and is a repeat of the winner", async () => {
  const claimed = newClaim();
  const keyed = keyedOf(claimed);
  const effect = newClaim();
  const done = await unlessRepeated(db.sql, keyed, async () => {
    // The other call starts and commits after this one has looked for its record.
    await carryOut(claimed, "first");
    return db.transaction(async (tx) => {
      await recordResponse(tx, keyedOf(effect), messageOf("effect"));
      await recordResponse(tx, keyed, messageOf("second"));
    });
  });
  assert.equal(done, "duplicate");
  assert.equal(await readStoredResponse(db.sql, claimed), "first");
  await assert.rejects(readStoredResponse(db.sql, effect), failsWith("IDEMPOTENCY_IN_PROGRESS"));
});

test("a recorded call is not run again", async () => {
  const keyed = keyedOf(newClaim());
  const record = () => recordResponse(db.sql, keyed, messageOf("first"));
  assert.equal(await unlessRepeated(db.sql, keyed, record), undefined);
  assert.equal(await unlessRepeated(db.sql, keyed, () => assert.fail("ran again")), "duplicate");
  assert.equal(await readStoredResponse(db.sql, keyed.claim), "first");
});

test("the same key with a different request is rejected", async () => {
  const claimed = newClaim();
  await carryOut(claimed, "first");
  const other = { ...claimed, fingerprint: Buffer.from("another request") };
  await assert.rejects(readStoredResponse(db.sql, other), failsWith("IDEMPOTENCY_KEY_REUSED"));
});

test("records created before a time are deleted, oldest first and up to the limit", async () => {
  const ages = [5, 4, 3, 2, 1];
  const claims = ages.map((days) => newClaim({ createdAt: new Date(Date.now() - (days + 1000) * 86_400_000) }));
  for (const each of claims) await carryOut(each, "kept");
  const before = new Date(Date.now() - 1002.5 * 86_400_000);
  assert.equal(await deleteExpiredRecords(db.sql, before, 2), 2);
  await assert.rejects(readStoredResponse(db.sql, claims[1]!), failsWith("IDEMPOTENCY_IN_PROGRESS"));
  assert.equal(await readStoredResponse(db.sql, claims[2]!), "kept");
  assert.equal(await deleteExpiredRecords(db.sql, before, 2), 1);
  assert.equal(await deleteExpiredRecords(db.sql, before, 2), 0);
  assert.equal(await readStoredResponse(db.sql, claims[3]!), "kept");
  assert.equal(await carryOut(claims[0]!, "anew"), "anew");
});

test("a batch records a request without a fingerprint, and refuses its repeat", async () => {
  const record = { ...newClaim({ fingerprint: Buffer.alloc(0) }), response: "first" };
  const claim = () => db.sql`with ${claimBatch(db.sql, [{ batchIndex: 7, record }])} select batch_index from refused`;
  assert.deepEqual([...(await claim())], []);
  assert.deepEqual([...(await claim())], [{ batchIndex: 7 }]);
  assert.equal(await readStoredResponse(db.sql, record), "first");
});
