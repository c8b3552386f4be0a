import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, testDatabase } from "../../../../../test/harness/context.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { localSignals } from "../testing/local-signals.ts";
import { createOfferWaits } from "./offer-waits.ts";

const db = await testDatabase();
const tenantId = freshTenant();
const log = { warn: assert.fail };
const never = new AbortController().signal;

/** An item that is offered to a recipient for some seconds. */
async function storeOffer(poolId: string, recipientId: string, seconds: number): Promise<void> {
  await db.sql`
    insert into queue_items (tenant_id, id, pool_id, recipient_id, state, hold_reason, due_at, offered_at, offer_number,
      priority, rank, expires_at, type, key, attributes, requirements, payload, decided_priority, outcome, decided_for,
      snapshot_digest, seed, evidence)
    values (${tenantId}, ${ulid(Date.now())}, ${poolId}, ${recipientId}, 'held', 'offer',
      now() + make_interval(secs => ${seconds}), now(), 1, 0, 0, now() + interval '1 hour', 't', '', '{}', '{}', '{}', 0,
      'offered', '', '', 0, '{}')`;
}

/** Begins waits that note their end. */
function waitingFor(recipients: readonly string[], poolId: string, waits: ReturnType<typeof createOfferWaits>) {
  const ended: string[] = [];
  const begun = recipients.map((recipientId) => {
    const wait = waits.begin({ tenantId, poolId, recipientId });
    return { wait, end: wait.ended(60_000, never).then(() => ended.push(recipientId)) };
  });
  return { ended, begun };
}

test("an offer on one node wakes those who wait for it on another: its recipient's callers and those of the pool", async () => {
  const { signals, woken } = localSignals();
  const parts = { sql: db.sql, signals, log };
  const [here, there] = [createOfferWaits(parts), createOfferWaits(parts)];
  const [pool, ada, bob] = [ulid(1), ulid(2), ulid(3)];
  const { ended, begun } = waitingFor([ada, "", bob], pool, here);
  woken.length = 0;
  there.announce([{ tenantId, poolId: ulid(4), recipientId: ada }]);
  assert.deepEqual(woken, [], "nobody waits in that pool");
  there.announce([{ tenantId, poolId: pool, recipientId: ada }]);
  assert.equal(woken.length, 2, "one signal for the recipient, one for the pool");
  await Promise.all(begun.slice(0, 2).map(({ end }) => end));
  assert.deepEqual(ended, [ada, ""]);
  here.end();
  there.end();
  for (const { wait } of begun) wait.cancel();
});

test("an offer without any signal is found, and expired offers and those to others are not", async () => {
  const waits = createOfferWaits({ sql: db.sql, ...localSignals(), log });
  const [pool, empty] = [ulid(5), ulid(6)];
  const [ada, bob, eve] = [ulid(7), ulid(8), ulid(9)];
  await storeOffer(pool, ada, 60);
  await storeOffer(pool, bob, -1);
  await storeOffer(empty, ada, -1);
  const { ended, begun } = waitingFor([bob, eve, ada, ""], pool, waits);
  const elsewhere = waitingFor(["", ada], empty, waits);
  await Promise.all(begun.slice(2).map(({ end }) => end));
  assert.deepEqual(ended.toSorted(), ["", ada]);
  assert.deepEqual(elsewhere.ended, []);
  waits.end();
  for (const { wait } of [...begun, ...elsewhere.begun]) wait.cancel();
  await waits.idle();
});
