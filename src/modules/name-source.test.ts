import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, testDatabase } from "../../test/harness/context.ts";
import type { Principal } from "../platform/access/index.ts";
import { createKeyedRecordFinder, nameSource } from "./name-source.ts";

test("a record is found by its key and by its id, only in its tenant and by callers that may read it", async () => {
  const { sql } = await testDatabase();
  const [tenantId, otherTenantId] = [freshTenant(), freshTenant()];
  const source = nameSource("thing", "thing:read", "things", {
    key: { column: "name", exists: "not is_removed" },
    isVisible: (inProduction) => `is_production = ${inProduction}`,
  });
  await sql`create table things (tenant_id text, id text, name text, is_removed boolean, is_production boolean)`;
  await sql`insert into things values (${tenantId}, 'id-1', 'leads', false, true), (${tenantId}, 'id-2', 'old', true, true)`;
  const findRecords = createKeyedRecordFinder(sql, [source]);
  const find: typeof findRecords = async (...call) => [...(await findRecords(...call))];
  const caller = (fields: Partial<Principal>, of = tenantId) => ({
    tenantId: of,
    principal: { scopes: new Set(["thing:read"]), environmentMode: "any", ...fields } as Principal,
  });
  const record = { id: "id-1", key: "leads" };
  assert.deepEqual(await find(caller({}), "thing", "leads"), [record]);
  assert.deepEqual(await find(caller({}), "thing", "id-1"), [record]);
  assert.deepEqual(await find(caller({ environmentMode: "production_only" }), "thing", "leads"), [record]);
  for (const [hidden, kind, text] of [
    [caller({ scopes: new Set(["other:read"]) }), "thing", "leads"],
    [caller({ environmentMode: "non_production_only" }), "thing", "leads"],
    [caller({ subscriberId: "ada" }), "thing", "leads"],
    [caller({}, otherTenantId), "thing", "leads"],
    [caller({}), "thing", "old"],
    [caller({}), "other", "leads"],
  ] as const) {
    assert.deepEqual(await find(hidden, kind, text), [], JSON.stringify(hidden));
  }
});
