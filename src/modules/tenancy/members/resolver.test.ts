import assert from "node:assert/strict";
import { test } from "node:test";
import {
  InviteMemberRequestSchema,
  RemoveMemberRequestSchema,
  Member_Status as Status,
  UpdateMemberRequestSchema,
} from "../../../../gen/service/api/member_pb.ts";
import { afterFile } from "../../../../test/harness/after-file.ts";
import { freshTenant, perform, recordedEvents, testDatabase } from "../../../../test/harness/context.ts";
import { until } from "../../../../test/harness/until.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { createSignals, createTenantChanges } from "../../../platform/db/index.ts";
import { createMembers, type MemberRoles } from "./index.ts";

const db = await testDatabase();

const events = recordedEvents();

/** Starts one of several nodes on the same database. */
async function startNode() {
  const signals = createSignals(db);
  const changes = createTenantChanges(db, signals);
  await signals.start();
  await changes.start();
  afterFile(async () => {
    changes.stop();
    await signals.stop();
  });
  return {
    changes,
    members: createMembers({
      ...{ db, clock: { now: Date.now }, changes, events },
      credentials: { revokeKeys: async () => 0, listKeys: async () => [], endSessions: async () => 0 },
    }),
  };
}

const { members } = await startNode();
const { resolve, handlers } = members;
/** Returns a member's access, without its identity. */
const accessOf = (member: MemberRoles | undefined) => {
  const { id: _, subject: __, email: ___, signedOutAt: ____, ...access } = member!;
  return access;
};
const invite = async (tenantId: TenantId, request: object) =>
  (await perform(db, { tenantId }, handlers.inviteMember, InviteMemberRequestSchema, request)).member!.id;
const update = (tenantId: TenantId, memberId: string, change: object) =>
  perform(db, { tenantId }, handlers.updateMember, UpdateMemberRequestSchema, { memberId, ...change });
const remove = (tenantId: TenantId, memberId: string) =>
  perform(db, { tenantId }, handlers.removeMember, RemoveMemberRequestSchema, { memberId });
const stored = async (memberId: string) =>
  (
    await db.sql<{ subject: string; status: string; recordVersion: number }[]>`
    select subject, status, record_version from members where id = ${memberId}`
  )[0];

/** Resolves without a query, after every earlier change has been received. */
async function remembered(...bearer: Parameters<typeof resolve>) {
  await until(async () => {
    const resolved = resolve(...bearer);
    await resolved;
    return !(resolved instanceof Promise);
  });
  return resolve(...bearer);
}

/** The values of a member invited without restrictions. */
const unbounded = { environmentMode: "any", expiresAt: null };

test("the first call with a verified email address activates an invited member, ignoring case", async () => {
  const tenantId = freshTenant();
  const id = await invite(tenantId, { email: "Ada@Example.com", roles: ["operator"] });
  assert.deepEqual(accessOf(await resolve(tenantId, "idp|ada", "ada@example.COM", true)), {
    ...unbounded,
    roles: ["operator"],
    status: "active",
  });
  assert.deepEqual({ ...(await stored(id)) }, { subject: "idp|ada", status: "active", recordVersion: 2 });
  const { type, subject, data } = events.recorded.at(-1)!;
  assert.deepEqual([type, subject, data], ["member.updated", id, { fields: ["status"] }]);
});

test("an unverified email address, or one of another tenant, activates no member", async () => {
  const tenantId = freshTenant();
  const id = await invite(tenantId, { email: "ada@example.com", roles: ["operator"] });
  assert.equal(await resolve(tenantId, "eve", "ada@example.com", false), undefined);
  assert.equal(await resolve(tenantId, "eve", undefined, true), undefined);
  assert.equal(await resolve(freshTenant(), "eve", "ada@example.com", true), undefined);
  assert.equal((await stored(id))!.status, "invited");
});

test("only the invited subject activates a member invited by subject", async () => {
  const tenantId = freshTenant();
  await invite(tenantId, { email: "ada@example.com", subject: "ada", roles: ["viewer"] });
  assert.equal(await resolve(tenantId, "eve", "ada@example.com", true), undefined);
  assert.deepEqual(accessOf(await resolve(tenantId, "ada", undefined, false)), {
    ...unbounded,
    roles: ["viewer"],
    status: "active",
  });
});

test("an empty subject matches no member", async () => {
  const tenantId = freshTenant();
  await invite(tenantId, { email: "ada@example.com" });
  assert.equal(await resolve(tenantId, "", "ada@example.com", true), undefined);
});

test("of many concurrent first calls, one activates the member and all get the same result", async () => {
  const tenantId = freshTenant();
  const id = await invite(tenantId, { email: "ada@example.com", roles: ["viewer"] });
  const nodes = await Promise.all([startNode(), startNode(), startNode()]);
  const calls = Array.from({ length: 30 }, (_, n) =>
    nodes[n % 3]!.members.resolve(tenantId, "ada", "ada@example.com", true),
  );
  for (const member of await Promise.all(calls))
    assert.deepEqual(accessOf(member), { ...unbounded, roles: ["viewer"], status: "active" });
  assert.equal((await stored(id))!.recordVersion, 2);
});

test("of two people with the same email address, only the first becomes the member", async () => {
  const tenantId = freshTenant();
  await invite(tenantId, { email: "team@example.com", roles: ["viewer"] });
  const both = await Promise.all(["one", "two"].map((each) => resolve(tenantId, each, "team@example.com", true)));
  assert.deepEqual(both.filter((member) => member !== undefined).length, 1);
});

test("members and non-members are cached until the tenant changes", async () => {
  const tenantId = freshTenant();
  const id = await invite(tenantId, { email: "ada@example.com", subject: "ada", roles: ["viewer"] });
  assert.deepEqual(accessOf(await remembered(tenantId, "ada", undefined, false)), {
    ...unbounded,
    roles: ["viewer"],
    status: "active",
  });
  assert.equal(await remembered(tenantId, "eve", undefined, false), undefined);

  await update(tenantId, id, { roleSet: { roles: ["operator"] } });
  assert.deepEqual(accessOf(await resolve(tenantId, "ada", undefined, false)), {
    ...unbounded,
    roles: ["operator"],
    status: "active",
  });
  await invite(tenantId, { email: "eve@example.com", subject: "eve", roles: ["viewer"] });
  assert.deepEqual(accessOf(await resolve(tenantId, "eve", undefined, false)), {
    ...unbounded,
    roles: ["viewer"],
    status: "active",
  });
});

test("a suspended member has no roles, even if suspended before the first call", async () => {
  const tenantId = freshTenant();
  const seen = await invite(tenantId, { email: "ada@example.com", subject: "ada", roles: ["admin"] });
  await resolve(tenantId, "ada", undefined, false);
  await update(tenantId, seen, { status: Status.SUSPENDED });
  assert.deepEqual(accessOf(await resolve(tenantId, "ada", undefined, false)), {
    ...unbounded,
    roles: [],
    status: "suspended",
  });

  const unseen = await invite(tenantId, { email: "bob@example.com", roles: ["admin"] });
  await update(tenantId, unseen, { status: Status.SUSPENDED });
  assert.deepEqual(accessOf(await resolve(tenantId, "bob", "bob@example.com", true)), {
    ...unbounded,
    roles: [],
    status: "suspended",
  });
  await update(tenantId, unseen, { status: Status.ACTIVE });
  assert.deepEqual(accessOf(await resolve(tenantId, "bob", "bob@example.com", true)), {
    ...unbounded,
    roles: ["admin"],
    status: "active",
  });
});

test("a removed member resolves as removed and without roles until invited again", async () => {
  const tenantId = freshTenant();
  const id = await invite(tenantId, { email: "ada@example.com", roles: ["admin"] });
  await resolve(tenantId, "ada", "ada@example.com", true);
  await remove(tenantId, id);
  assert.deepEqual(accessOf(await resolve(tenantId, "ada", "ada@example.com", true)), {
    ...unbounded,
    roles: [],
    status: "removed",
  });
  await invite(tenantId, { email: "ada@example.com", roles: ["viewer"] });
  assert.deepEqual(accessOf(await resolve(tenantId, "ada", "ada@example.com", true)), {
    ...unbounded,
    roles: ["viewer"],
    status: "active",
  });
});

test("the first token binds a member who signed in without one, and roles through groups count", async () => {
  const tenantId = freshTenant();
  const context = { tenantId, sql: db.sql, nowMs: Date.now(), afterCommit: () => {} };
  const person = { email: "ada@example.com", displayName: "Ada", roles: ["viewer"], isActive: true };
  const { id } = await members.accounts.create(context, person);
  await members.accounts.setRolesOf("group", context, [{ memberId: id, roles: ["operator", "viewer"] }]);
  const member = await resolve(tenantId, "idp|ada", "ada@example.com", true);
  assert.deepEqual([member!.id, member!.subject, member!.roles], [id, "idp|ada", ["viewer", "operator"]]);
  assert.equal(await resolve(tenantId, "idp|eve", "ada@example.com", true), undefined);
});
