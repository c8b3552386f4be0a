import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { leftOut, readTenantTables, snapshotColumns } from "../../src/modules/tenancy/transfer/tenant-tables.ts";
import { readTables } from "../../src/platform/db/move/stored-tables.ts";
import { testDatabase } from "../harness/context.ts";

const root = join(import.meta.dirname, "../..");
const textsOf = (pattern: string) =>
  globSync(pattern, { cwd: root }).map((file) => readFileSync(join(root, file), "utf8"));

/** The tables that their comments declare as never updated. */
function neverUpdatedTables(): string[] {
  const declared = /^-- (?:.*\n-- )*.*never(?:\n-- | )updated\.\ncreate table (\w+)/gm;
  return textsOf("migrations/*.sql").flatMap((text) => [...text.matchAll(declared)].map(([, table]) => table!));
}

test("rows that are declared as never updated are updated by no statement of the service", () => {
  const tables = neverUpdatedTables();
  for (const kind of ["workflow_definition", "billing_plan", "pool", "connector_provider_config"]) {
    assert.ok(tables.includes(`${kind}_versions`), kind);
  }
  const sources = textsOf("src/**/!(*.test).ts").join("\n");
  for (const table of tables) {
    const declaration = new RegExp(`recordTable<.*>\\("${table}", \\{[^}]*\\}`).exec(sources)?.[0];
    if (declaration === undefined) assert.match(sources, new RegExp(`insert into ${table}\\b`), `${table} is written`);
    assert.doesNotMatch(declaration ?? "", /\bmutable:/, table);
    assert.doesNotMatch(sources, new RegExp(`\\bupdate ${table}\\b`), table);
    assert.doesNotMatch(sources, new RegExp(`insert into ${table}\\b[^\`;]*\\bdo update\\b`), table);
  }
});

test("only statements that lease or complete rows address them by their place in the table", () => {
  const byPlace = globSync("src/**/!(*.test).ts", { cwd: root }).filter((file) =>
    /\bctid\b/.test(readFileSync(join(root, file), "utf8")),
  );
  assert.deepEqual(byPlace.sort(), [
    "src/modules/connectors/triggers/delivery/delivery-store.ts",
    "src/modules/notifications/dispatch/delivery/dispatch-store.ts",
    "src/modules/notifications/dispatch/runs/run-store.ts",
    "src/modules/routing/queues/completion/completion-store.ts",
    "src/modules/routing/queues/leasing/lease-store.ts",
    "src/modules/workflows/tasks/polling/claim-store.ts",
    "src/platform/jobs/tenant-turns.ts",
  ]);
});

test("the schema has no triggers and no types of its own", async () => {
  const { sql } = await testDatabase();
  const triggers = await sql`select from pg_trigger where not tgisinternal`;
  const types = await sql`
    select from pg_type where typnamespace = current_schema()::regnamespace and typtype in ('d', 'e', 'r')`;
  assert.deepEqual([triggers.count, types.count], [0, 0]);
});

/** Tables with a time to find rows by whose rows are few, or seldom change. */
const quietTables = [
  ...["anomalies", "billing_invoices", "billing_periods", "billing_segments", "conformance_reports", "evidence_packs"],
  ...["experiments", "notification_subscriptions", "routing_snapshot_parts"],
];

test("tables whose rows are leased, or found by a time, are vacuumed before dead rows slow that down", async () => {
  const { sql } = await testDatabase();
  const tables = await sql<{ name: string; share: number | null }[]>`
    select c.relname::text as name, (
      select option_value::float8 from pg_options_to_table(c.reloptions) where option_name = 'autovacuum_vacuum_scale_factor'
    ) as share
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and not c.relispartition and (
      exists (select from pg_attribute where attrelid = c.oid and attname = 'lease_token')
      or exists (
        select from pg_index join pg_class index on index.oid = indexrelid join pg_am am on am.oid = index.relam
          join pg_attribute on attrelid = indrelid and atttypid = 'timestamptz'::regtype
            and (attnum = indkey[0] or (indpred is not null and attnum = any(indkey)))
        where indrelid = c.oid and amname = 'btree'))
    order by name`;
  assert.ok(tables.some(({ name }) => name === "queue_items"));
  const late = tables.filter(({ share }) => share === null || share > 0.05).map(({ name }) => name);
  assert.deepEqual(late, quietTables);
});

test("only columns of JSON are varchar, because the client parses their values", async () => {
  const { sql } = await testDatabase();
  const columns = await sql<{ name: string }[]>`
    select distinct a.attname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = current_schema()::regnamespace and a.atttypid in ('varchar'::regtype, 'varchar[]'::regtype) order by 1`;
  assert.deepEqual(
    columns.map(({ name }) => name),
    ["attributes", "evidence", "payload", "requirements"],
  );
});

/** Tables of the whole installation; all others belong to tenants. */
const installationTables = [
  ...[
    "billing_collections",
    "health_observations",
    "history_samples",
    "instance",
    "schema_migrations",
    "schema_version",
  ],
  ...["shard_nodes", "shards", "tenant_directory", "tenants"],
];

test("every unique key begins with the tenant, except those of tables of the whole installation", async () => {
  const { sql } = await testDatabase();
  const keys = await sql<{ definition: string }[]>`
    select pg_get_indexdef(indexrelid) as definition
    from pg_index join pg_class on pg_class.oid = indrelid
    left join pg_attribute on attrelid = indrelid and attnum = indkey[0]
    where indisunique and attname is distinct from 'tenant_id' and relnamespace = current_schema()::regnamespace and relname <> all(${installationTables}::text[])`;
  assert.deepEqual(
    keys.map(({ definition }) => definition),
    [],
  );
});

test("every table of tenants is exported with a tenant, or left out for a reason, and its secrets and stamps can move", async () => {
  const { sql } = await testDatabase();
  const tables = (await readTables(sql)).filter(({ name }) => !installationTables.includes(name));
  const exported = await readTenantTables(sql, "t");
  const names = exported.map(({ name }) => name);
  assert.equal(names[0], "tenants");
  assert.deepEqual(
    [...names.slice(1), ...Object.keys(leftOut)].sort(),
    [...tables.map(({ name }) => name), "tenant_directory"].sort(),
  );
  const sealed = new Set(
    textsOf("src/**/!(*.test).ts").flatMap((text) =>
      [...text.matchAll(/sealedTable\([\w.]+, "(\w+)"/g)].map(([, table]) => table!),
    ),
  );
  const withSecrets = exported.filter(({ columns }) => columns.includes("ciphertext")).map(({ name }) => name);
  assert.deepEqual(
    withSecrets.filter((name) => !sealed.has(name)),
    [],
  );
  assert.ok(withSecrets.includes("secrets"));
  const snapshots = await sql<{ name: string }[]>`
    select distinct attname::text as name from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
    where pg_get_expr(adbin, adrelid) like 'stamp_snapshot(%'`;
  assert.deepEqual(
    snapshots.filter(({ name }) => !snapshotColumns.has(name)),
    [],
  );
  // Functions take at most 100 arguments.
  assert.deepEqual(
    exported.filter(({ columns }) => columns.length > 100),
    [],
  );
});
