import assert from "node:assert/strict";
import { test } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  CreateTenantRequestSchema,
  DeleteTenantRequestSchema,
  GetTenantQuotaRequestSchema,
  GetTenantRequestSchema,
  ListTenantsRequestSchema,
  Tenant_Status as Status,
  UpdateTenantRequestSchema,
} from "../../../../gen/service/api/tenant_pb.ts";
import { announcedChanges } from "../../../../test/harness/changes.ts";
import {
  type ContextChoice,
  failsWith,
  freshTenant,
  perform,
  recordedEvents,
  testDatabase,
} from "../../../../test/harness/context.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { classifyDatabaseError, maintainPartitions } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { createLog } from "../../../platform/log/log.ts";
import { createApiKeys } from "../api-keys/index.ts";
import { createEnvironments } from "../environments/index.ts";
import { slugOf } from "./domain/tenant.ts";
import { createTenants } from "./index.ts";
import { createQuotas, type Quotas } from "./quotas.ts";

const db = await testDatabase(20);
const startedAtMs = Date.now();
// It stands still, because quotas start again at midnight.
const clock = { now: () => startedAtMs };
const events = recordedEvents();
const { changes } = announcedChanges();
const log = createLog("silent");
const apiKeys = createApiKeys({
  ...{ db, clock, log, changes, events, bcryptCost: 4, scopes: new Set<string>() },
  findOwner: async () => undefined,
});
const environments = createEnvironments({ events, changes });
/** Tenants with data that is not in the database. */
const withObjects = new Set<string>();
const tenants = createTenants({
  db,
  clock,
  changes,
  events,
  apiKeys,
  environments,
  purgeAfterDays: 30,
  tenantSettingsEnabled: true,
  releaseTenant: async (tenantId) => withObjects.has(tenantId),
});
const { handlers } = tenants;
const created = await Promise.all(Array.from({ length: 5 }, () => tenants.ensurePlatform()));
const platform = created[0]!;
const asPlatform: ContextChoice = { tenantId: platform.id, platform: true };

const create = (request: MessageInitShape<typeof CreateTenantRequestSchema> = {}, choice = asPlatform) =>
  perform(db, choice, handlers.createTenant, CreateTenantRequestSchema, { name: "Acme", ...request });
const get = (tenantId: string, choice: ContextChoice) =>
  perform(db, choice, handlers.getTenant, GetTenantRequestSchema, { tenantId });
const update = (tenantId: string, choice: ContextChoice, change: MessageInitShape<typeof UpdateTenantRequestSchema>) =>
  perform(db, choice, handlers.updateTenant, UpdateTenantRequestSchema, { tenantId, ...change });
const remove = (tenantId: string, choice: ContextChoice) =>
  perform(db, choice, handlers.deleteTenant, DeleteTenantRequestSchema, { tenantId });

async function newTenant(request = {}): Promise<{ id: TenantId; own: ContextChoice }> {
  const id = (await create(request)).tenant!.id as TenantId;
  return { id, own: { tenantId: id } };
}

test("concurrent nodes create one platform tenant", async () => {
  assert.deepEqual(new Set(created.map((each) => each.id)), new Set([platform.id]));
  assert.equal((await tenants.ensurePlatform()).id, platform.id);
});

test("a new tenant has its default environments and, if requested, a working admin key", async () => {
  const { tenant } = await create({ issueAdminKey: true });
  const keys = await db.sql`select key from environments where tenant_id = ${tenant!.id} order by id`;
  assert.deepEqual(
    keys.map((row) => row.key),
    ["production", "staging", "development"],
  );
  assert.equal((await apiKeys.verifier.verify(tenant!.adminKey!))!.principal.tenantId, tenant!.id);
  assert.equal((await create()).tenant!.adminKey, undefined);
});

test("only the platform tenant creates and deletes tenants; the internal plane can create them too", async () => {
  const { id, own } = await newTenant();
  await assert.rejects(create({}, own), failsWith("PERMISSION_DENIED"));
  await assert.rejects(remove(id, own), failsWith("PERMISSION_DENIED"));
  assert.ok((await create({}, { ...own, plane: "internal" })).tenant);
});

test("every operation reports another tenant as not found, except to the platform tenant", async () => {
  const { id } = await newTenant();
  const { own: otherTenant } = await newTenant();
  const none = failsWith("NOT_FOUND", /^No such tenant\.$/);
  await assert.rejects(get(id, otherTenant), none);
  await assert.rejects(update(id, otherTenant, { name: "Mine" }), none);
  await assert.rejects(remove(id, otherTenant), none);
  const request = { tenantId: id, operation: "api.call" };
  await assert.rejects(perform(db, otherTenant, handlers.getTenantQuota, GetTenantQuotaRequestSchema, request), none);
  assert.equal((await get(id, asPlatform)).tenant!.id, id);
});

test("a list contains only the caller's tenant, and all tenants for the platform tenant", async () => {
  const { id, own } = await newTenant();
  const list = (choice: ContextChoice) => perform(db, choice, handlers.listTenants, ListTenantsRequestSchema, {});
  assert.deepEqual(
    (await list(own)).tenants.map((tenant) => tenant.id),
    [id],
  );
  const all = (await list(asPlatform)).tenants.map((tenant) => tenant.id);
  assert.ok(all.includes(id) && all.includes(platform.id));
});

test("a tenant changes its own name and settings; only the platform tenant changes plan, status and quotas", async () => {
  const { id, own } = await newTenant();
  const changed = await update(id, own, { name: "Acme Corporation", settings: { color: "red" } });
  assert.deepEqual([changed.tenant!.name, changed.tenant!.settings], ["Acme Corporation", { color: "red" }]);
  for (const guarded of [
    { plan: "gold" },
    { status: Status.SUSPENDED },
    { quotas: { "api.call": { limitPerDay: 1n } } },
  ]) {
    await assert.rejects(update(id, own, guarded), failsWith("PERMISSION_DENIED", /Only the platform tenant/));
    assert.ok((await update(id, asPlatform, guarded)).tenant);
  }
});

test("a stale update changes nothing", async () => {
  const { id, own } = await newTenant();
  await update(id, own, { name: "Second", recordVersion: 1n });
  await assert.rejects(update(id, own, { name: "Third", recordVersion: 1n }), failsWith("VERSION_CONFLICT"));
  assert.equal((await get(id, own)).tenant!.name, "Second");
});

test("the platform tenant can be neither suspended nor deleted", async () => {
  await assert.rejects(update(platform.id, asPlatform, { status: Status.SUSPENDED }), failsWith("FAILED_PRECONDITION"));
  await assert.rejects(remove(platform.id, asPlatform), failsWith("FAILED_PRECONDITION"));
});

test("an update changes only the quotas that it names", async () => {
  const { id } = await newTenant({ quotas: { "api.call": { limitPerDay: 5n }, route: { limitPerDay: 7n } } });
  const { tenant } = await update(id, asPlatform, { quotas: { route: { limitPerDay: 9n } } });
  assert.deepEqual([tenant!.quotas["api.call"]!.limitPerDay, tenant!.quotas.route!.limitPerDay], [5n, 9n]);
});

test("a slug is derived from the name and unique, and a taken one is reported", async () => {
  assert.equal(slugOf("Ääkkönen & Söhne GmbH", "x1"), "aakkonen-sohne-gmbh-x1");
  assert.equal(slugOf("日本", "x1"), "x1");
  assert.match(slugOf("-".repeat(10) + "a".repeat(100), "x1"), /^a{40}-x1$/);
  await create({ slug: "taken" });
  await assert.rejects(create({ slug: "taken" }), (error) => classifyDatabaseError(error)?.code === "ALREADY_EXISTS");
});

test("the state of a tenant follows its changes", async () => {
  const { id } = await newTenant({ quotas: { "api.call": { limitPerDay: 5n } } });
  assert.deepEqual(await tenants.readTenantState(id), {
    status: "active",
    platform: false,
    quotas: { "api.call": 5 },
    settings: {},
  });
  assert.ok(!(tenants.readTenantState(id) instanceof Promise), "cached");
  await update(id, asPlatform, { status: Status.SUSPENDED });
  assert.equal((await tenants.readTenantState(id))!.status, "suspended");
  assert.equal(await tenants.readTenantState(freshTenant()), undefined);
});

test("deletion locks a tenant out immediately, is idempotent, and schedules one purge", async () => {
  const { id } = await newTenant();
  await tenants.readTenantState(id);
  assert.equal((await remove(id, asPlatform)).tenant!.status, Status.DELETED);
  assert.equal((await tenants.readTenantState(id))!.status, "deleted");
  assert.equal((await remove(id, asPlatform)).tenant!.status, Status.DELETED);
  await assert.rejects(update(id, asPlatform, { status: Status.ACTIVE }), failsWith("NOT_FOUND"));
  const jobs =
    await db.sql`select kind, extract(day from run_at - now())::int as days from jobs where tenant_id = ${id}`;
  assert.deepEqual([...jobs], [{ kind: "tenant.purge", days: 29 }]);
});

const ulidNow = () => ulid(Date.now());

/** Inserts one row into every table with a tenant_id that has none yet, with any values that satisfy its checks. */
async function fillAllTables(tenantId: TenantId): Promise<void> {
  for (const [table, count] of Object.entries(await rowsOf(tenantId))) {
    if (count > 0 || table === "tenants") continue;
    const columns = await db.sql<{ name: string; type: string; checks: string | null }[]>`
      select a.attname as name, format_type(a.atttypid, null) as type,
        (select pg_get_constraintdef(c.oid) from pg_constraint c
         where c.conrelid = a.attrelid and c.contype = 'c' and a.attnum = any(c.conkey) limit 1) as checks
      from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = ${table}::regclass and a.attnum > 0 and not a.attisdropped
        -- Of columns of which exactly one has a value, the first one gets it.
        and (a.attnotnull and d.oid is null or a.attnum in (
          select c.conkey[1] from pg_constraint c
          where c.conrelid = a.attrelid and c.contype = 'c' and pg_get_constraintdef(c.oid) like '%) <> (%'))`;
    const values = Object.fromEntries(
      columns.map(({ name, type, checks }) => [name, name === "tenant_id" ? tenantId : valueFor(type, checks)]),
    );
    await db.sql`insert into ${db.sql(table)} ${db.sql(values)}`;
  }
}

/** A value of a type: the first text that a check allows, or the smallest number. */
function valueFor(type: string, checks: string | null): string | number | boolean | Date | Buffer | never[] {
  if (type.endsWith("[]")) return [];
  if (type === "jsonb" || type === "json") return "{}";
  if (type === "bytea") return Buffer.from(ulidNow());
  if (type === "boolean") return false;
  if (type.startsWith("timestamp") || type === "date") return new Date();
  if (type === "text") return /'([a-z_]+)'::text/.exec(checks ?? "")?.[1] ?? ulidNow();
  return Number(/>= (\d+)/.exec(checks ?? "")?.[1] ?? 1);
}

async function rowsOf(tenantId: TenantId): Promise<Record<string, number>> {
  const tables = await db.sql<{ name: string }[]>`
    select t.relname::text as name from pg_class t join pg_attribute c on c.attrelid = t.oid
    where t.relnamespace = current_schema()::regnamespace and t.relkind in ('r', 'p') and not t.relispartition
      and c.attname = 'tenant_id'
    order by 1`;
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await db.sql`select count(*)::int as n from ${db.sql(name)} where tenant_id = ${tenantId}`;
    counts[name] = row!.n;
  }
  const [row] = await db.sql`select count(*)::int as n from tenants where id = ${tenantId}`;
  return { ...counts, tenants: row!.n };
}

function purge(tenantId: TenantId, id = ulidNow(), signal = new AbortController().signal) {
  return tenants.jobs[0]!.handler({ tenantId, id, payload: {}, attempt: 1, signal });
}

test("a purge deletes every row of its tenant in every table, and no row of another tenant", async () => {
  const [purged, retained] = [await create({ issueAdminKey: true }), await create({ issueAdminKey: true })].map(
    ({ tenant }) => tenant!.id as TenantId,
  ) as [TenantId, TenantId];
  for (const each of [purged, retained]) await fillAllTables(each);
  const before = await rowsOf(retained);
  assert.deepEqual(
    Object.keys(before).filter((table) => before[table] === 0),
    [],
  );
  await remove(purged, asPlatform);
  const [job] = await db.sql`select id from jobs where tenant_id = ${purged} and kind = 'tenant.purge'`;
  await purge(purged, job!.id);
  const left = await rowsOf(purged);
  // The job runner deletes the job itself.
  assert.deepEqual({ ...left, jobs: 0 }, Object.fromEntries(Object.keys(left).map((table) => [table, 0])));
  assert.equal(left.jobs, 1);
  assert.deepEqual(await rowsOf(retained), before);
  await purge(purged, job!.id);
});

test("a purge waits until nothing is left outside of the database", async () => {
  const { id } = await newTenant();
  await remove(id, asPlatform);
  const [job] = await db.sql`select id from jobs where tenant_id = ${id} and kind = 'tenant.purge'`;
  withObjects.add(id);
  await purge(id, job!.id);
  assert.equal((await rowsOf(id)).tenants, 1);
  const [next] = await db.sql`
    select id, run_at > now() as later from jobs where tenant_id = ${id} and kind = 'tenant.purge' and id <> ${job!.id}`;
  assert.equal(next!.later, true);
  withObjects.delete(id);
  await purge(id, next!.id);
  assert.equal((await rowsOf(id)).tenants, 0);
});

const historyTable = { name: "routing_history", column: "ended_at" };

test("a purge deletes no row of another tenant that has the same place in another partition", async () => {
  const [purged, retained] = [await newTenant(), await newTenant()].map(({ id }) => id as TenantId);
  const add = (tenantId: TenantId, endedAt: Date) => db.sql`
    insert into routing_history (tenant_id, id, pool_id, ended_at, type, key, attributes, requirements, payload,
      decided_priority, outcome, decided_for, snapshot_digest, seed, evidence)
    values (${tenantId}, ${ulidNow()}, ${ulidNow()}, ${endedAt}, 't', '', '{}', '{}', '{}', 0, '', '', '', 0, '{}')
    returning ctid::text as place`;
  await db.sql`truncate routing_history`;
  const signal = new AbortController().signal;
  await maintainPartitions(db, historyTable, { nowMs: Date.now(), retentionDays: 3, signal });
  const places = [
    await add(purged!, new Date()),
    await add(retained!, new Date(Date.now() - 86_400_000)),
    await add(retained!, new Date(Date.now() + 86_400_000)),
  ].map(([row]) => row!.place);
  assert.equal(new Set(places).size, 1);
  await remove(purged!, asPlatform);
  await purge(purged!);
  const rows = await db.sql`select tenant_id from routing_history`;
  assert.deepEqual(
    rows.map(({ tenantId }) => tenantId),
    [retained, retained],
  );
});

test("a purge handles any number of rows, stops with its node, and continues at the next attempt", async () => {
  const { id } = await newTenant();
  await db.sql`
    insert into quota_usage select ${id}, 'op ' || n, current_date, 1 from generate_series(1, 12000) as n`;
  await remove(id, asPlatform);
  const stopped = AbortSignal.abort(new Error("The node stops."));
  await assert.rejects(purge(id, ulidNow(), stopped), /stops/);
  assert.equal((await rowsOf(id)).quota_usage, 12_000);
  await purge(id);
  assert.equal((await rowsOf(id)).quota_usage, 0);
});

test("a job never purges a tenant that is not deleted", async () => {
  const { id } = await newTenant();
  const before = await rowsOf(id);
  await purge(id);
  assert.deepEqual(await rowsOf(id), before);
});

test("concurrent callers on several nodes take exactly the quota", async () => {
  const nodes = [createQuotas(db.sql, clock), createQuotas(db.sql, clock), createQuotas(db.sql, clock)];
  for (const limit of [0, 1, 7, 100]) {
    const tenantId = freshTenant();
    const takes = Array.from({ length: limit * 2 + 30 }, (_, n) => nodes[n % 3]!.take(tenantId, "route", limit));
    const outcomes = await Promise.allSettled(takes);
    assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, limit);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") assert.ok(failsWith("QUOTA_EXCEEDED", /exceeded/)(outcome.reason));
    }
    assert.equal((await nodes[0]!.used(db.sql, tenantId, "route")).used, limit);
  }
});

test("quotas of tenants and operations are independent, even in one batch", async () => {
  const quotas = createQuotas(db.sql, clock);
  const [a, b] = [freshTenant(), freshTenant()];
  const takes = [a, b].flatMap((tenantId) =>
    ["route", "api.call"].flatMap((operation) => Array.from({ length: 5 }, () => quotas.take(tenantId, operation, 3))),
  );
  const outcomes = (await Promise.allSettled(takes)).map(({ status }) => status === "fulfilled");
  for (let group = 0; group < 4; group++) {
    assert.equal(outcomes.slice(group * 5, group * 5 + 5).filter(Boolean).length, 3);
  }
});

test("an exhausted quota costs no statements for a second, and is available again the next day or when raised", async () => {
  const time = { nowMs: Date.UTC(2030, 0, 1, 23, 59) };
  let statements = 0;
  const counting = new Proxy(db.sql, {
    apply(target, self, args) {
      statements++;
      return Reflect.apply(target as never, self, args);
    },
  });
  const quotas = createQuotas(counting, { now: () => time.nowMs });
  const tenantId = freshTenant();
  await quotas.take(tenantId, "route", 1);
  await assert.rejects(quotas.take(tenantId, "route", 1), failsWith("QUOTA_EXCEEDED", /2030-01-02T00:00:00/));
  const before = statements;
  await assert.rejects(quotas.take(tenantId, "route", 1), failsWith("QUOTA_EXCEEDED"));
  assert.equal(statements, before);
  await quotas.take(tenantId, "route", 2);
  await assert.rejects(quotas.take(tenantId, "route", 2), failsWith("QUOTA_EXCEEDED"));
  time.nowMs += 60_000;
  await quotas.take(tenantId, "route", 2);
  assert.deepEqual(await quotas.used(db.sql, tenantId, "route"), { used: 1, resetsAt: new Date(Date.UTC(2030, 0, 3)) });
});

test("units that another node refunds to an exhausted quota are available a second later", async () => {
  const time = { nowMs: Date.UTC(2030, 0, 1) };
  const [here, there] = [0, 1].map(() => createQuotas(db.sql, { now: () => time.nowMs })) as [Quotas, Quotas];
  const tenantId = freshTenant();
  const receipt = await there.take(tenantId, "route", 2, 2);
  await assert.rejects(here.take(tenantId, "route", 2), failsWith("QUOTA_EXCEEDED"));
  await receipt.refund(1);
  time.nowMs += 1000;
  await here.take(tenantId, "route", 2);
});

test("a refund after midnight goes to the day that was charged", async () => {
  const time = { nowMs: Date.UTC(2030, 0, 1, 23, 59) };
  const quotas = createQuotas(db.sql, { now: () => time.nowMs });
  const tenantId = freshTenant();
  const usedOn = async (day: number) => {
    const at = createQuotas(db.sql, { now: () => Date.UTC(2030, 0, day) });
    return (await at.used(db.sql, tenantId, "route")).used;
  };
  const receipt = await quotas.take(tenantId, "route", 10, 5);
  await db.transaction(async (tx) => {
    const take = { tenantId, operation: "route", limit: 10, count: 3 };
    const { refund } = await quotas.takeIn(tx, [take]);
    time.nowMs += 120_000;
    await refund([{ ...take, count: 2 }]);
  });
  await receipt.refund(4);
  assert.deepEqual([await usedOn(1), await usedOn(2)], [2, 0]);
});

test("the remaining quota is reported, and nothing for an operation without a quota", async () => {
  const { id, own } = await newTenant({ quotas: { route: { limitPerDay: 3n } } });
  await tenants.quotas.take(id, "route", 3);
  const ask = async (operation: string) =>
    (await perform(db, own, handlers.getTenantQuota, GetTenantQuotaRequestSchema, { tenantId: id, operation })).quota!;
  const { used, limit, remaining } = await ask("route");
  assert.deepEqual([used, limit, remaining], [1n, 3n, 2n]);
  const other = await ask("api.call");
  assert.deepEqual([other.used, other.limit, other.remaining], [0n, undefined, undefined]);
});
