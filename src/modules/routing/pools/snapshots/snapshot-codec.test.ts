import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { canonicalJson } from "../../../../platform/crypto/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { RecipientId } from "../domain/recipient.ts";
import type { PoolSnapshot } from "../domain/snapshot.ts";
import { createPoolFixture } from "../testing/pool-fixture.ts";
import type { SnapshotBody } from "./snapshot-codec.ts";

const { db, pools, newTenant, createPool, createRecipient, createRule } = await createPoolFixture();
const { encodeHead, chunks, encodeChunk, decode } = pools.snapshotCodec;

/** Encodes a complete snapshot. */
function bodyOf(snapshot: PoolSnapshot): SnapshotBody {
  const { parts: _, ...rest } = encodeHead(snapshot);
  return { ...rest, recipients: chunks(snapshot).flatMap(encodeChunk) };
}

async function filledPool() {
  const tenantId = await newTenant();
  const { id } = await createPool(
    { tenantId },
    {
      config: {
        admission: { throttle: { key: "item.key", limit: 2, periodS: 1 } },
        fallback: { steps: [{ afterS: 3 }] },
      },
    },
  );
  const attributes = { zone: "ü\u2028", nested: { b: [1, 2.5, 1e21, -0, null], a: true } };
  const { id: recipientId } = await createRecipient({ tenantId }, id, { attributes, skills: { french: 3 }, cost: 0.1 });
  await createRecipient({ tenantId }, id);
  await createRule({ tenantId }, id, { priority: 5, action: { type: "route", recipientId } });
  await createRule({ tenantId }, id, { priority: 1, condition: "item.key == 'a'" });
  const snapshot = (await pools.snapshot(tenantId, id))!;
  return { tenantId, id, recipientId, snapshot };
}

test("a snapshot survives encoding and decoding with the same digest", async () => {
  const { snapshot } = await filledPool();
  const restored = decode(JSON.parse(JSON.stringify(bodyOf(snapshot))));
  assert.deepEqual(restored, { ...snapshot, revision: 0 });
  assert.ok(restored.pool.createdAt instanceof Date && restored.recipients[0]!.availableSince instanceof Date);
});

/** An independent implementation of the digest. */
function referenceDigest({ pool, environmentKey, environmentMode, recipients, rules }: PoolSnapshot): string {
  const { id, environmentId, name, strategy, status, config } = pool;
  const content = {
    pool: { id, environmentId, name, strategy, status, config, environmentKey, environmentMode },
    recipients: recipients.map((each) =>
      sha256Of({
        id: each.id,
        name: each.name,
        status: each.status,
        weight: each.weight,
        capacity: each.capacity,
        priority: each.priority,
        attributes: each.attributes,
        skills: each.skills,
        cost: each.cost,
        delivery: each.delivery,
        availableSince: each.availableSince.toISOString(),
      }),
    ),
    rules: rules.map((each) => ({
      id: each.id,
      name: each.name,
      priority: each.priority,
      condition: each.condition,
      enabled: each.enabled,
      stopOnMatch: each.stopOnMatch,
      onError: each.onError,
      action: each.action,
    })),
  };
  return sha256Of(content);
}

const sha256Of = (value: unknown) => createHash("sha256").update(canonicalJson(value)).digest("hex");

test("the digest is the SHA-256 of the canonical JSON of all decision inputs, with each recipient replaced by its digest", async () => {
  const { snapshot } = await filledPool();
  assert.equal(snapshot.digest, referenceDigest(snapshot));
});

test("the digest changes with every decision input and with nothing else", async () => {
  const { snapshot } = await filledPool();
  const body = bodyOf(snapshot);
  const digestOf = (change: Partial<typeof body>) => decode({ ...body, ...change }).digest;
  const [first, second] = body.recipients;
  const other = [
    digestOf({ pool: { ...body.pool, strategy: "priority" } }),
    digestOf({ pool: { ...body.pool, status: "draining" } }),
    digestOf({ pool: { ...body.pool, config: { ...body.pool.config, itemEvents: true } } }),
    digestOf({ environmentMode: "sandbox" }),
    digestOf({ recipients: [first!] }),
    digestOf({ recipients: [{ ...first!, weight: 1 }, second!] }),
    digestOf({ recipients: [{ ...first!, availableSince: new Date(0).toISOString() }, second!] }),
    digestOf({ rules: body.rules.toReversed() }),
    digestOf({ rules: [{ ...body.rules[0]!, condition: "false" }] }),
  ];
  assert.equal(new Set([snapshot.digest, ...other]).size, other.length + 1);
  const at = new Date(0).toISOString();
  const stamps = { createdAt: at, updatedAt: at, recordVersion: 99 };
  const same = digestOf({
    pool: { ...body.pool, ...stamps, description: "other text" },
    recipients: body.recipients.map((each) => ({ ...each, ...stamps })),
    rules: body.rules.map((each) => ({ ...each, ...stamps })),
  });
  assert.equal(same, snapshot.digest);
});

test("a large pool has the same digest whether it is computed in steps or at once", async () => {
  const tenantId = await newTenant();
  const { id } = await createPool({ tenantId });
  await db.sql`
    insert into recipients (tenant_id, id, pool_id, name, status, weight, capacity, priority, delivery, available_since,
      created_at, updated_at)
    select ${tenantId}, lpad(n::text, 26, '0'), ${id}, n::text, 'active', n, 1, 1, '{}', now(), now(), now()
    from generate_series(1, 1501) n`;
  const snapshot = (await pools.snapshot(tenantId, id))!;
  assert.equal(snapshot.recipients.length, 1501);
  assert.equal(snapshot.digest, referenceDigest(snapshot));
  assert.equal(decode(bodyOf(snapshot)).digest, snapshot.digest);
});

test("when one of many recipients changes, all chunks but one stay the same objects", async () => {
  const { snapshot } = await filledPool();
  const [template] = snapshot.recipients;
  const recipients = Array.from({ length: 5000 }, (_, n) => ({ ...template!, id: ulid(1e12 + 7 * n) as RecipientId }));
  const before = chunks({ recipients });
  const changed = recipients.with(2500, { ...recipients[2500]!, status: "paused" });
  const after = chunks({ recipients: changed });
  const removed = chunks({ recipients: recipients.toSpliced(2500, 1) });
  assert.deepEqual(
    before.flatMap((chunk) => chunk.recipients),
    recipients,
  );
  assert.equal(after.length, before.length);
  assert.equal(after.filter((chunk) => !before.includes(chunk)).length, 1);
  assert.ok(removed.filter((chunk) => !before.includes(chunk)).length <= 2, "removing one moves no other boundary");
  assert.ok(before.length > 20 && Math.max(...before.map((chunk) => chunk.recipients.length)) < 2500);
});
