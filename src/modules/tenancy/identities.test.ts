import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, testDatabase } from "../../../test/harness/context.ts";
import { ulid } from "../../platform/ids/ulid.ts";
import { findIdentities } from "./identities.ts";

const db = await testDatabase();
const tenantId = freshTenant();

async function addKey(createdBy: string): Promise<string> {
  const id = ulid(Date.now());
  await db.sql`
    insert into api_keys (tenant_id, id, name, prefix, secret_hash, environment_mode, created_by, created_at, updated_at)
    values (${tenantId}, ${id}, 'key', ${id}, '', 'any', ${createdBy}, now(), now())`;
  return `key:${id}`;
}

async function addMember(email: string, subject = ""): Promise<string> {
  const id = ulid(Date.now());
  await db.sql`
    insert into members (tenant_id, id, subject, email, status, created_at, updated_at)
    values (${tenantId}, ${id}, ${subject}, ${email}, 'active', now(), now())`;
  return id;
}

const identitiesOf = async (...given: string[]) => new Set(await findIdentities(db.sql, tenantId, given));

test("the person behind a chain of keys is found, however long the chain is", async () => {
  const id = await addMember("Ada@acme.example", "ada");
  let key = "ada";
  for (let length = 0; length < 30; length++) key = await addKey(key);
  const found = await identitiesOf(key);
  for (const identity of ["ada", `member:${id}`, "email:ada@acme.example"]) assert.ok(found.has(identity), identity);
  assert.equal(found.size, 30 + 3);
});

test("each identity of a person leads to all: subject, address, member and account of single sign-on", async () => {
  const id = await addMember("Bob@acme.example", "bob");
  await db.sql`
    insert into sso_accounts (tenant_id, connection_id, subject, member_id, created_at)
    values (${tenantId}, ${ulid(Date.now())}, 'idp|bob', ${id}, now())`;
  const all = new Set(["bob", "idp|bob", `member:${id}`, "email:bob@acme.example"]);
  for (const identity of all) assert.deepEqual(await identitiesOf(identity), all, identity);
  assert.deepEqual(await identitiesOf("carol"), new Set(["carol"]));
});

test("a token of a further issuer and a single sign-on with the same issuer lead to one person", async () => {
  const [id, connectionId] = [await addMember("dora@acme.example"), ulid(Date.now())];
  await db.sql`
    insert into sso_connections (tenant_id, id, name, kind, settings, created_at, updated_at)
    values (${tenantId}, ${connectionId}, 'Partners', 'oidc', ${db.sql.json({ issuer: "https://id.example" })}, now(), now())`;
  await db.sql`
    insert into sso_accounts (tenant_id, connection_id, subject, member_id, created_at)
    values (${tenantId}, ${connectionId}, 'dora', ${id}, now())`;
  const all = new Set(["dora", "https://id.example|dora", `member:${id}`, "email:dora@acme.example"]);
  for (const identity of all) assert.deepEqual(await identitiesOf(identity), all, identity);
  const other = "https://other.example|dora";
  assert.deepEqual(await identitiesOf(other), new Set([other]));
});
