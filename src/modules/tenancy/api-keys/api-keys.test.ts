import assert from "node:assert/strict";
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
import { createLog } from "../../../platform/log/log.ts";
import { createApiKeys } from "./index.ts";
import { type ApiKeyVerifier, createApiKeyVerifier } from "./verifier.ts";

const db = await testDatabase();
const log = createLog("silent");
const clock = { nowMs: Date.now(), now: () => clock.nowMs };
const { changes } = announcedChanges();
const events = recordedEvents();
const scopes = grantableScopes(["event:read", "event:write", "secret:read", "config:read"]);
const findOwner = async () => undefined;
const apiKeys = createApiKeys({ db, clock, log, changes, events, findOwner, bcryptCost: 4, scopes });
const { handlers } = apiKeys;

/** Creates a separate verifier that counts its bcrypt checks. */
function countingVerifier() {
  const { changes: announced } = announcedChanges();
  const counted = { compares: 0 };
  const compare = async (secret: string, hash: string) => {
    counted.compares++;
    return bcrypt.compare(secret, hash);
  };
  const verifier = createApiKeyVerifier({ sql: db.sql, changes: announced, findOwner, clock, log, compare });
  return { verifier, counted, changes: announced };
}

async function create(choice: ContextChoice, request: object = {}) {
  const input = { name: "test", roles: ["viewer"], ...request };
  const { apiKey } = await perform(db, choice, handlers.createApiKey, CreateApiKeyRequestSchema, input);
  return { apiKey, secret: apiKey!.secret! };
}
const revoke = (choice: ContextChoice, apiKeyId: string) =>
  perform(db, choice, handlers.revokeApiKey, RevokeApiKeyRequestSchema, { apiKeyId });
const list = (choice: ContextChoice, request: object = {}) =>
  perform(db, choice, handlers.listApiKeys, ListApiKeysRequestSchema, request);

/** The same key with a wrong secret. */
const wrong = (secret: string, n = 0) => `${secret.slice(0, secret.lastIndexOf("_") + 1)}wrong-secret-${n}`;

/** Resolves when `count` guesses were rejected without a check. */
function waitForRejections(guesses: readonly Promise<string>[], count: number): Promise<void> {
  const enough = Promise.withResolvers<void>();
  let rejected = 0;
  for (const each of guesses) {
    each.then((code) => {
      if (code === "UNAVAILABLE" && ++rejected === count) enough.resolve();
    });
  }
  return enough.promise;
}

/** The outcome of a guess: not a valid key, or rejected because too many checks wait. */
async function guess(verifier: ApiKeyVerifier, presented: string, address: string): Promise<string> {
  try {
    return (await verifier.verify(presented, address)) === undefined ? "wrong" : "right";
  } catch (error) {
    return (error as Failure).code;
  }
}

test("a new key's secret is shown once, stored only as a bcrypt hash, and absent from the event", async () => {
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

test("the text of a non-production key contains test", async () => {
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

test("a key costs one bcrypt check per minute, regardless of how many calls present it", async () => {
  const tenantId = freshTenant();
  const { secret } = await create({ tenantId });
  const { verifier, counted, changes } = countingVerifier();
  const verified = await Promise.all(Array.from({ length: 50 }, () => verifier.verify(secret)));
  assert.ok(verified.every((each) => each !== undefined));
  for (let n = 0; n < 100; n++) assert.ok((await verifier.verify(secret)) !== undefined);
  // Changes of its tenant do not cause another check.
  changes.published(tenantId);
  assert.ok((await verifier.verify(secret)) !== undefined);
  clock.nowMs += 59_000;
  assert.ok(!(verifier.verify(secret) instanceof Promise), "answered from memory");
  assert.equal(counted.compares, 1);
  clock.nowMs += 2_000;
  assert.ok((await verifier.verify(secret)) !== undefined);
  assert.equal(counted.compares, 2);
});

test("a wrong secret is rejected, and also costs one bcrypt check per minute", async () => {
  const { secret } = await create({});
  const { verifier, counted } = countingVerifier();
  for (let n = 0; n < 5; n++) assert.equal(await verifier.verify(wrong(secret)), undefined);
  assert.equal(counted.compares, 1);
  assert.ok((await verifier.verify(secret)) !== undefined);
  assert.equal(counted.compares, 2);
});

test("failed guesses do not evict the correct secret from the cache", async () => {
  const { secret } = await create({});
  const { verifier, counted } = countingVerifier();
  await verifier.verify(secret);
  for (let n = 0; n < 60; n++) assert.equal(await verifier.verify(wrong(secret, n)), undefined);
  assert.equal(counted.compares, 61);
  assert.ok((await verifier.verify(secret)) !== undefined);
  assert.equal(counted.compares, 61);
});

test("the first use of a key succeeds while wrong secrets of many other keys are being checked", async () => {
  const attacked = await Promise.all(Array.from({ length: 8 }, () => create({})));
  const other = await create({});
  const release = Promise.withResolvers<void>();
  const { changes: announced } = announcedChanges();
  let guesses = 0;
  const compare = async (secret: string, hash: string) => {
    // Each key already has one failure; the test controls how long the later guesses take.
    if (secret.includes("wrong-secret-") && guesses++ >= attacked.length) await release.promise;
    return bcrypt.compare(secret, hash);
  };
  const verifier = createApiKeyVerifier({ sql: db.sql, changes: announced, findOwner, clock, log, compare });
  const address = "10.0.0.1";
  for (const { secret } of attacked) await verifier.verify(wrong(secret), address);
  const guessing = attacked.flatMap(({ secret }) =>
    Array.from({ length: 20 }, (_, n) => guess(verifier, wrong(secret, n + 1), address)),
  );
  // At most one check per key runs, and four wait.
  await waitForRejections(guessing, attacked.length * (20 - 5));
  assert.ok((await verifier.verify(other.secret, address)) !== undefined, "from the very same address");
  release.resolve();
  assert.ok((await Promise.all(guessing)).every((each) => each === "wrong" || each === "UNAVAILABLE"));
});

test("a waiting check is dropped when its last caller disconnects, and not before", async () => {
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
  const verifier = createApiKeyVerifier({ sql: db.sql, changes: announced, findOwner, clock, log, compare });
  const callers = Array.from({ length: 4 }, () => new AbortController());
  const verify = (n: number, caller: number) => verifier.verify(wrong(secret, n), "a", () => callers[caller]!.signal);
  const first = verify(0, 0);
  await running.promise;
  // One check per key runs at a time, so the others wait.
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

test("the correct secret is checked while another address guesses secrets of the same key", async () => {
  const { secret } = await create({});
  const { verifier } = countingVerifier();
  await verifier.verify(wrong(secret), "10.0.0.1");
  const guesses = Array.from({ length: 50 }, (_, n) => guess(verifier, wrong(secret, n + 1), "10.0.0.1"));
  const right = await verifier.verify(secret, "10.0.0.2");
  assert.ok(right !== undefined);
  await Promise.all(guesses);
});

test("a repeated wrong secret costs nothing, even after a hundred others", async () => {
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

test("a malformed or unknown key is rejected without a bcrypt check", async () => {
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

test("every character of a secret is significant, up to the maximum length", async () => {
  const prefix = "sk_test_longest";
  const secret = "x".repeat(72);
  await apiKeys.ensureBootstrapKey(db, freshTenant(), `${prefix}_${secret}`, clock.nowMs);
  const { verifier } = countingVerifier();
  assert.ok((await verifier.verify(`${prefix}_${secret}`)) !== undefined);
  for (const other of [`${secret}y`, `${secret.slice(0, -1)}y`, secret.slice(0, -1)]) {
    assert.equal(await verifier.verify(`${prefix}_${other}`), undefined);
  }
});

test("a key is invalid from the millisecond in which it expires, even when cached", async () => {
  const { apiKey, secret } = await create({}, { expiresAt: timestampFromMs(clock.nowMs + 5000) });
  const { verifier } = countingVerifier();
  clock.nowMs += 4999;
  assert.ok((await verifier.verify(secret)) !== undefined);
  clock.nowMs += 1;
  assert.equal(await verifier.verify(secret), undefined);
  assert.equal(apiKey!.status, Status.ACTIVE);
});

test("a revoked key is rejected on its own node immediately, and elsewhere when the change arrives", async () => {
  const tenantId = freshTenant();
  const { apiKey, secret } = await create({ tenantId });
  const elsewhere = countingVerifier();
  assert.ok((await apiKeys.verifier.verify(secret)) && (await elsewhere.verifier.verify(secret)));
  await revoke({ tenantId, subject: "key:admin" }, apiKey!.id);
  assert.equal(await apiKeys.verifier.verify(secret), undefined);
  elsewhere.changes.published(tenantId);
  assert.equal(await elsewhere.verifier.verify(secret), undefined);
});

test("a key revoked while it is being read or checked is not cached as valid", async () => {
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
  const verifier = createApiKeyVerifier({ sql: db.sql, changes: announced, findOwner, clock, log, compare });
  const verifying = verifier.verify(secret);
  await checking.promise;
  await revoke({ tenantId }, apiKey!.id);
  announced.published(tenantId);
  proceed.resolve();
  await verifying;
  assert.equal(await verifier.verify(secret), undefined);
});

test("revoking again changes nothing and reports who revoked it first", async () => {
  const tenantId = freshTenant();
  const { apiKey } = await create({ tenantId });
  await revoke({ tenantId, subject: "key:first" }, apiKey!.id);
  const eventCount = events.recorded.length;
  const again = await revoke({ tenantId, subject: "key:second" }, apiKey!.id);
  assert.deepEqual(
    [again.apiKey!.revokedBy, again.apiKey!.recordVersion, again.apiKey!.status],
    ["key:first", 2n, Status.REVOKED],
  );
  assert.equal(events.recorded.length, eventCount);
});

test("a caller cannot grant a key roles, scopes or environments that it does not have", async () => {
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

test("the errors about an unknown role and a past expiry name the field", async () => {
  for (const role of ["chief", "constructor"]) {
    await assert.rejects(create({}, { roles: ["viewer", role] }), failsWith("INVALID_ARGUMENT", /roles\[1\]/));
  }
  const past = { expiresAt: timestampFromMs(Date.now() - 1) };
  await assert.rejects(create({}, past), failsWith("INVALID_ARGUMENT", /expires_at/));
});

test("a list filters the keys of its own tenant by status", async () => {
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

test("another tenant's key is not found and cannot be revoked", async () => {
  const { apiKey, secret } = await create({});
  const none = failsWith("NOT_FOUND", /^No such API key\.$/);
  await assert.rejects(revoke({}, apiKey!.id), none);
  await assert.rejects(perform(db, {}, handlers.getApiKey, GetApiKeyRequestSchema, { apiKeyId: apiKey!.id }), none);
  assert.ok((await apiKeys.verifier.verify(secret)) !== undefined);
});

test("only the platform tenant can verify keys of other tenants", async () => {
  const tenantId = freshTenant();
  const { secret } = await create({ tenantId });
  const ask = (choice: ContextChoice) =>
    perform(db, choice, handlers.verifyApiKey, VerifyApiKeyRequestSchema, { secret });
  assert.equal((await ask({ tenantId })).valid, true);
  assert.equal((await ask({ platform: true })).valid, true);
  const foreign = await ask({});
  assert.deepEqual([foreign.valid, foreign.apiKey, foreign.grantedScopes], [false, undefined, []]);
});

test("the last use of many keys is stored in one statement", async () => {
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

test("a bootstrap key is stored once by many nodes, accepts a new secret, and stays revoked", async () => {
  const tenantId = freshTenant();
  const text = (secret: string) => `sk_test_chosen_${secret}`;
  await Promise.all(
    Array.from({ length: 5 }, () => apiKeys.ensureBootstrapKey(db, tenantId, text("first-secret"), clock.nowMs)),
  );
  assert.equal((await list({ tenantId })).totalSize, 1);
  assert.ok((await countingVerifier().verifier.verify(text("first-secret")))?.principal.roles.includes("admin"));
  await apiKeys.ensureBootstrapKey(db, tenantId, text("second-secret"), clock.nowMs);
  assert.equal(await countingVerifier().verifier.verify(text("first-secret")), undefined);
  assert.ok((await countingVerifier().verifier.verify(text("second-secret"))) !== undefined);
  await revoke({ tenantId }, (await list({ tenantId })).apiKeys[0]!.id);
  await apiKeys.ensureBootstrapKey(db, tenantId, text("second-secret"), clock.nowMs);
  assert.equal(await countingVerifier().verifier.verify(text("second-secret")), undefined);
});

test("a bootstrap key does not replace the secret of an API key with the same prefix", async () => {
  const { apiKey, secret } = await create({});
  await apiKeys.ensureBootstrapKey(db, freshTenant(), `${apiKey!.prefix}_another-secret`, clock.nowMs);
  assert.equal(await countingVerifier().verifier.verify(`${apiKey!.prefix}_another-secret`), undefined);
  assert.ok((await countingVerifier().verifier.verify(secret)) !== undefined);
});
