import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import bcrypt from "bcrypt";
import {
  CreateApiKeyRequestSchema,
  GetApiKeyRequestSchema,
  ListApiKeysRequestSchema,
  RevokeApiKeyRequestSchema,
  ApiKey_Status as Status,
  VerifyApiKeyRequestSchema,
} from "../../../../gen/service/api/api_key_pb.ts";
import { announcedChanges } from "../../../../test/harness/changes.ts";
import {
  type ContextChoice,
  failsWith,
  freshTenant,
  perform,
  recordedEvents,
  testDatabase,
} from "../../../../test/harness/context.ts";
import type { Failure } from "../../../errors/index.ts";
import { grantableScopes, roleGrants } from "../../../platform/access/index.ts";
import { createCursors } from "../../../platform/cursor/index.ts";
import { createLog } from "../../../platform/log/log.ts";
import { createApiKeys } from "./index.ts";
import { type ApiKeyVerifier, createApiKeyVerifier } from "./verifier.ts";

const db = await testDatabase();
const log = createLog("silent");
const clock = { nowMs: Date.now(), now: () => clock.nowMs };
const { changes } = announcedChanges();
const events = recordedEvents();
const cursors = createCursors(randomBytes(32));
const scopes = grantableScopes(["event:read", "event:write", "secret:read", "config:read"]);
const apiKeys = createApiKeys({ db, clock, cursors, log, changes, events, bcryptCost: 4, scopes });
const { handlers } = apiKeys;

/** A verifier of its own that counts how often it asks bcrypt. */
function countingVerifier() {
  const { changes: announced } = announcedChanges();
  const counted = { compares: 0 };
  const compare = async (secret: string, hash: string) => {
    counted.compares++;
    return bcrypt.compare(secret, hash);
  };
  const verifier = createApiKeyVerifier({ sql: db.sql, changes: announced, clock, log, compare });
  return { verifier, counted, changes: announced };
}

async function create(choice: ContextChoice, request: object = {}) {
  const asked = { name: "test", roles: ["viewer"], ...request };
  const { apiKey } = await perform(db, choice, handlers.createApiKey, CreateApiKeyRequestSchema, asked);
  return { apiKey, secret: apiKey!.secret! };
}
const revoke = (choice: ContextChoice, apiKeyId: string) =>
  perform(db, choice, handlers.revokeApiKey, RevokeApiKeyRequestSchema, { apiKeyId });
const list = (choice: ContextChoice, request: object = {}) =>
  perform(db, choice, handlers.listApiKeys, ListApiKeysRequestSchema, request);

/** Another secret of the same key. */
const wrong = (secret: string, n = 0) => `${secret.slice(0, secret.lastIndexOf("_") + 1)}wrong-secret-${n}`;

/** Resolves when so many guesses were refused without a check. */
function refusedOf(guesses: readonly Promise<string>[], count: number): Promise<void> {
  const enough = Promise.withResolvers<void>();
  let refused = 0;
  for (const each of guesses) {
    each.then((code) => {
      if (code === "UNAVAILABLE" && ++refused === count) enough.resolve();
    });
  }
  return enough.promise;
}

/** What becomes of a guess: nobody's, or refused because too many wait. */
async function guess(verifier: ApiKeyVerifier, presented: string, address: string): Promise<string> {
  try {
    return (await verifier.verify(presented, address)) === undefined ? "wrong" : "right";
  } catch (error) {
    return (error as Failure).code;
  }
}

test("a new key shows its secret once, keeps only a bcrypt hash of it, and is told about without it", async () => {
  const tenantId = freshTenant();
  const { apiKey, secret } = await create({ tenantId }, { scopes: ["event:read"] });
  assert.match(secret, /^sk_live_[0-9a-z]{26}_[A-Za-z0-9_-]{32}$/);
  assert.ok(secret.startsWith(`${apiKey!.prefix}_`));
  const [row] =
    await db.sql`select to_jsonb(api_keys)::text as row, secret_hash from api_keys where id = ${apiKey!.id}`;
  const inner = secret.slice(apiKey!.prefix.length + 1);
  assert.equal(row!.row.includes(inner), false);
  assert.equal(await bcrypt.compare(inner, row!.secretHash), true);
  const { type, data } = events.recorded.at(-1)!;
  assert.deepEqual([type, Object.keys(data)], ["api_key.created", ["name", "prefix", "roles", "scopes"]]);
  const read = await perform(db, { tenantId }, handlers.getApiKey, GetApiKeyRequestSchema, { apiKeyId: apiKey!.id });
  assert.equal(
    JSON.stringify(read, (_, value) => (typeof value === "bigint" ? `${value}` : value)).includes(inner),
    false,
  );
});

test("a key for other than production says so in its text", async () => {
  const { secret } = await create({}, { environmentMode: "non_production_only" });
  assert.match(secret, /^sk_test_/);
});

test("a key verifies to its tenant, roles and scopes", async () => {
  const tenantId = freshTenant();
  const { apiKey, secret } = await create({ tenantId }, { roles: ["service"], scopes: ["config:read"] });
  const verified = await apiKeys.verifier.verify(secret);
  assert.deepEqual(
    { ...verified!.principal, scopes: [...verified!.principal.scopes].sort() },
    {
      tenantId,
      subject: `key:${apiKey!.id}`,
      kind: "api_key",
      roles: ["service"],
      scopes: [...roleGrants.service!, "config:read"].sort(),
      environmentMode: "any",
      expiresAt: undefined,
    },
  );
});

test("a key costs one bcrypt a minute, however often and however many at once it is presented", async () => {
  const tenantId = freshTenant();
  const { secret } = await create({ tenantId });
  const { verifier, counted, changes } = countingVerifier();
  const verified = await Promise.all(Array.from({ length: 50 }, () => verifier.verify(secret)));
  assert.ok(verified.every((each) => each !== undefined));
  for (let n = 0; n < 100; n++) assert.ok((await verifier.verify(secret)) !== undefined);
  // Its tenant may change as it likes meanwhile.
  changes.published(tenantId);
  assert.ok((await verifier.verify(secret)) !== undefined);
  clock.nowMs += 59_000;
  assert.ok(!(verifier.verify(secret) instanceof Promise), "answered from memory");
  assert.equal(counted.compares, 1);
  clock.nowMs += 2_000;
  assert.ok((await verifier.verify(secret)) !== undefined);
  assert.equal(counted.compares, 2);
});

test("a wrong secret is refused, and costs one bcrypt a minute too", async () => {
  const { secret } = await create({});
  const { verifier, counted } = countingVerifier();
  for (let n = 0; n < 5; n++) assert.equal(await verifier.verify(wrong(secret)), undefined);
  assert.equal(counted.compares, 1);
  assert.ok((await verifier.verify(secret)) !== undefined);
  assert.equal(counted.compares, 2);
});

test("somebody who guesses secrets neither fills the memory nor has the right one checked again", async () => {
  const { secret } = await create({});
  const { verifier, counted } = countingVerifier();
  await verifier.verify(secret);
  for (let n = 0; n < 60; n++) assert.equal(await verifier.verify(wrong(secret, n)), undefined);
  assert.equal(counted.compares, 61);
  assert.ok((await verifier.verify(secret)) !== undefined);
  assert.equal(counted.compares, 61);
});

test("the first use of a key is answered while wrong secrets of many other keys are being checked", async () => {
  const attacked = await Promise.all(Array.from({ length: 8 }, () => create({})));
  const other = await create({});
  const release = Promise.withResolvers<void>();
  const { changes: announced } = announcedChanges();
  let guesses = 0;
  const compare = async (secret: string, hash: string) => {
    // One wrong secret of each key is known already; the guesses after it take as long as the test likes.
    if (secret.includes("wrong-secret-") && guesses++ >= attacked.length) await release.promise;
    return bcrypt.compare(secret, hash);
  };
  const verifier = createApiKeyVerifier({ sql: db.sql, changes: announced, clock, log, compare });
  const address = "10.0.0.1";
  for (const { secret } of attacked) await verifier.verify(wrong(secret), address);
  const guessing = attacked.flatMap(({ secret }) =>
    Array.from({ length: 20 }, (_, n) => guess(verifier, wrong(secret, n + 1), address)),
  );
  // One of each key's runs at most, and four wait.
  await refusedOf(guessing, attacked.length * (20 - 5));
  assert.ok((await verifier.verify(other.secret, address)) !== undefined, "from the very same address");
  release.resolve();
  assert.ok((await Promise.all(guessing)).every((each) => each === "wrong" || each === "UNAVAILABLE"));
});

test("a check that waits is dropped when the last of its callers leaves, and not before", async () => {
  const { secret } = await create({});
  const release = Promise.withResolvers<void>();
  const running = Promise.withResolvers<void>();
  const compared: string[] = [];
  const compare = async (presented: string) => {
    compared.push(presented.slice(-1));
    running.resolve();
    await release.promise;
    return false;
  };
  const { changes: announced } = announcedChanges();
  const verifier = createApiKeyVerifier({ sql: db.sql, changes: announced, clock, log, compare });
  const callers = Array.from({ length: 4 }, () => new AbortController());
  const verify = (n: number, caller: number) => verifier.verify(wrong(secret, n), "a", () => callers[caller]!.signal);
  const first = verify(0, 0);
  await running.promise;
  // One check of a key runs at a time, so the others wait.
  const [left, leftToo, stayed, alone] = [verify(1, 1), verify(2, 1), verify(2, 2), verify(3, 3)];
  const settled = Promise.allSettled([left, alone]);
  callers[1]!.abort();
  callers[3]!.abort();
  const again = verifier.verify(wrong(secret, 3), "a");
  assert.deepEqual(
    (await settled).map(({ status }) => status),
    ["rejected", "rejected"],
  );
  release.resolve();
  assert.deepEqual(await Promise.all([first, leftToo, stayed, again]), [undefined, undefined, undefined, undefined]);
  assert.deepEqual(compared.toSorted(), ["0", "2", "3"]);
});

test("the right secret of a key is checked although others guess it, when it comes from another address", async () => {
  const { secret } = await create({});
  const { verifier } = countingVerifier();
  await verifier.verify(wrong(secret), "10.0.0.1");
  const guesses = Array.from({ length: 50 }, (_, n) => guess(verifier, wrong(secret, n + 1), "10.0.0.1"));
  const right = await verifier.verify(secret, "10.0.0.2");
  assert.ok(right !== undefined);
  await Promise.all(guesses);
});

test("a wrong secret that is presented again costs nothing, also after a hundred others", async () => {
  const { secret } = await create({});
  const { verifier, counted } = countingVerifier();
  for (let n = 0; n < 100; n++) assert.equal(await verifier.verify(wrong(secret, n), "10.0.0.1"), undefined);
  assert.equal(counted.compares, 100);
  for (let n = 0; n < 100; n++) {
    const answer = verifier.verify(wrong(secret, n), `10.0.0.${n}`);
    assert.ok(!(answer instanceof Promise), "answered from memory");
    assert.equal(answer, undefined);
  }
  assert.equal(counted.compares, 100);
  clock.nowMs += 61_000;
  await verifier.verify(wrong(secret), "10.0.0.1");
  assert.equal(counted.compares, 101, "and is forgotten after a minute");
});

test("what is no key, and a key that nobody has, is refused without asking bcrypt", async () => {
  const { verifier, counted } = countingVerifier();
  const texts = [
    "",
    "sk",
    "sk_live_a",
    "sk_live_nobody_0123456789",
    "Bearer x",
    "sk_live_a_\u0000bcdefghij",
    `sk_live_a_${"x".repeat(73)}`,
  ];
  for (const text of texts) assert.equal(await verifier.verify(text), undefined, text);
  assert.equal(counted.compares, 0);
});

test("every character of a secret counts, up to the longest that a key may have", async () => {
  const prefix = "sk_test_longest";
  const secret = "x".repeat(72);
  await apiKeys.keep(db, freshTenant(), `${prefix}_${secret}`, clock.nowMs);
  const { verifier } = countingVerifier();
  assert.ok((await verifier.verify(`${prefix}_${secret}`)) !== undefined);
  for (const other of [`${secret}y`, `${secret.slice(0, -1)}y`, secret.slice(0, -1)]) {
    assert.equal(await verifier.verify(`${prefix}_${other}`), undefined);
  }
});

test("a key ends in the very millisecond in which it expires, also when it is in memory", async () => {
  const { apiKey, secret } = await create({}, { expiresAt: timestampFromMs(clock.nowMs + 5000) });
  const { verifier } = countingVerifier();
  clock.nowMs += 4999;
  assert.ok((await verifier.verify(secret)) !== undefined);
  clock.nowMs += 1;
  assert.equal(await verifier.verify(secret), undefined);
  assert.equal(apiKey!.status, Status.ACTIVE);
});

test("a revoked key is refused as soon as its tenant's change is known, and on its own node at once", async () => {
  const tenantId = freshTenant();
  const { apiKey, secret } = await create({ tenantId });
  const elsewhere = countingVerifier();
  assert.ok((await apiKeys.verifier.verify(secret)) && (await elsewhere.verifier.verify(secret)));
  await revoke({ tenantId, subject: "key:admin" }, apiKey!.id);
  assert.equal(await apiKeys.verifier.verify(secret), undefined);
  elsewhere.changes.published(tenantId);
  assert.equal(await elsewhere.verifier.verify(secret), undefined);
});

test("a key that is revoked while it is being read or checked is not remembered as good", async () => {
  const tenantId = freshTenant();
  const { apiKey, secret } = await create({ tenantId });
  const { changes: announced } = announcedChanges();
  const checking = Promise.withResolvers<void>();
  const proceed = Promise.withResolvers<void>();
  const compare = async (text: string, hash: string) => {
    checking.resolve();
    await proceed.promise;
    return bcrypt.compare(text, hash);
  };
  const verifier = createApiKeyVerifier({ sql: db.sql, changes: announced, clock, log, compare });
  const verifying = verifier.verify(secret);
  await checking.promise;
  await revoke({ tenantId }, apiKey!.id);
  announced.published(tenantId);
  proceed.resolve();
  await verifying;
  assert.equal(await verifier.verify(secret), undefined);
});

test("revoking again changes nothing, and says who did it first", async () => {
  const tenantId = freshTenant();
  const { apiKey } = await create({ tenantId });
  await revoke({ tenantId, subject: "key:first" }, apiKey!.id);
  const told = events.recorded.length;
  const again = await revoke({ tenantId, subject: "key:second" }, apiKey!.id);
  assert.deepEqual(
    [again.apiKey!.revokedBy, again.apiKey!.recordVersion, again.apiKey!.status],
    ["key:first", 2n, Status.REVOKED],
  );
  assert.equal(events.recorded.length, told);
});

test("nobody can give a key more than they have: no role, no scope, no other environments", async () => {
  const cases: [choice: ContextChoice, request: object, denied: RegExp | undefined][] = [
    [{ roles: ["admin"] }, { roles: ["admin"], scopes: ["*:*"] }, undefined],
    [{ roles: ["operator"] }, { roles: ["viewer"] }, undefined],
    [{ roles: ["operator"] }, { roles: ["admin"] }, /admin/],
    [{ roles: ["viewer"] }, { roles: ["viewer", "operator"] }, /operator/],
    [{ roles: ["viewer"] }, { roles: ["secret_manager"] }, /secret_manager/],
    [{ roles: ["viewer"] }, { roles: [], scopes: ["event:read", "secret:read"] }, /secret:read/],
    [{ roles: [], scopes: ["event:*"] }, { roles: [], scopes: ["event:write"] }, undefined],
    [{ roles: [], scopes: ["event:write"] }, { roles: [], scopes: ["event:*"] }, /event:\*/],
    [{ roles: [], scopes: ["*:read"] }, { roles: [], scopes: ["*:*"] }, /\*:\*/],
    [{ environmentMode: "production_only" }, {}, /environment mode any/],
    [{ environmentMode: "production_only" }, { environmentMode: "non_production_only" }, /environment mode/],
    [{ environmentMode: "production_only" }, { environmentMode: "production_only" }, undefined],
    [{ environmentMode: "non_production_only" }, { environmentMode: "any" }, /environment mode any/],
    [{ environmentMode: "any" }, { environmentMode: "production_only" }, undefined],
  ];
  for (const [choice, request, denied] of cases) {
    if (denied === undefined) await create(choice, request);
    else await assert.rejects(create(choice, request), failsWith("PERMISSION_DENIED", denied), JSON.stringify(request));
  }
});

test("a role that does not exist and an end that has passed are refused by the name of the field", async () => {
  for (const role of ["chief", "constructor"]) {
    await assert.rejects(create({}, { roles: ["viewer", role] }), failsWith("INVALID_ARGUMENT", /roles\[1\]/));
  }
  const past = { expiresAt: timestampFromMs(Date.now() - 1) };
  await assert.rejects(create({}, past), failsWith("INVALID_ARGUMENT", /expires_at/));
});

test("a list shows the keys of its own tenant in each standing", async () => {
  const tenantId = freshTenant();
  await create({});
  const active = await create({ tenantId });
  const revoked = await create({ tenantId });
  await revoke({ tenantId }, revoked.apiKey!.id);
  const expired = await create({ tenantId }, { expiresAt: timestampFromMs(Date.now() + 3_600_000) });
  const nowMs = Date.now() + 7_200_000;
  const idsOf = async (status: Status) =>
    (await list({ tenantId, nowMs }, { status })).apiKeys.map((key) => [key.id, key.status]);
  assert.deepEqual(await idsOf(Status.ACTIVE), [[active.apiKey!.id, Status.ACTIVE]]);
  assert.deepEqual(await idsOf(Status.REVOKED), [[revoked.apiKey!.id, Status.REVOKED]]);
  assert.deepEqual(await idsOf(Status.EXPIRED), [[expired.apiKey!.id, Status.EXPIRED]]);
  assert.equal((await list({ tenantId })).totalSize, 3);
});

test("another tenant's key is not found, and not revoked", async () => {
  const { apiKey, secret } = await create({});
  const none = failsWith("NOT_FOUND", /^No such API key\.$/);
  await assert.rejects(revoke({}, apiKey!.id), none);
  await assert.rejects(perform(db, {}, handlers.getApiKey, GetApiKeyRequestSchema, { apiKeyId: apiKey!.id }), none);
  assert.ok((await apiKeys.verifier.verify(secret)) !== undefined);
});

test("a service learns about keys of its own tenant only, unless the platform asks", async () => {
  const tenantId = freshTenant();
  const { secret } = await create({ tenantId });
  const ask = (choice: ContextChoice) =>
    perform(db, choice, handlers.verifyApiKey, VerifyApiKeyRequestSchema, { secret });
  assert.equal((await ask({ tenantId })).valid, true);
  assert.equal((await ask({ platform: true })).valid, true);
  const stranger = await ask({});
  assert.deepEqual([stranger.valid, stranger.apiKey, stranger.grantedScopes], [false, undefined, []]);
});

test("when a key was last used is noted for many keys at once", async () => {
  const { verifier } = countingVerifier();
  const keys = [await create({}), await create({}), await create({})];
  for (const { secret } of keys.slice(0, 2)) await verifier.verify(secret);
  await verifier.verify(wrong(keys[2]!.secret));
  await verifier.flushUses();
  const rows = await db.sql`
    select last_used_at from api_keys where id = any(${keys.map(({ apiKey }) => apiKey!.id)}) order by id`;
  assert.deepEqual(
    rows.map((row) => row.lastUsedAt?.getTime()),
    [clock.nowMs, clock.nowMs, undefined],
  );
});

test("a key that the operator chose is kept once by many nodes, takes a new secret, and stays revoked", async () => {
  const tenantId = freshTenant();
  const text = (secret: string) => `sk_test_chosen_${secret}`;
  await Promise.all(Array.from({ length: 5 }, () => apiKeys.keep(db, tenantId, text("first-secret"), clock.nowMs)));
  assert.equal((await list({ tenantId })).totalSize, 1);
  assert.ok((await countingVerifier().verifier.verify(text("first-secret")))?.principal.roles.includes("admin"));
  await apiKeys.keep(db, tenantId, text("second-secret"), clock.nowMs);
  assert.equal(await countingVerifier().verifier.verify(text("first-secret")), undefined);
  assert.ok((await countingVerifier().verifier.verify(text("second-secret"))) !== undefined);
  await revoke({ tenantId }, (await list({ tenantId })).apiKeys[0]!.id);
  await apiKeys.keep(db, tenantId, text("second-secret"), clock.nowMs);
  assert.equal(await countingVerifier().verifier.verify(text("second-secret")), undefined);
});

test("a key that somebody made is not taken over by a chosen one of the same name", async () => {
  const { apiKey, secret } = await create({});
  await apiKeys.keep(db, freshTenant(), `${apiKey!.prefix}_another-secret`, clock.nowMs);
  assert.equal(await countingVerifier().verifier.verify(`${apiKey!.prefix}_another-secret`), undefined);
  assert.ok((await countingVerifier().verifier.verify(secret)) !== undefined);
});
