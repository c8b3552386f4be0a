import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { CreateApiKeyRequestSchema } from "../../../../gen/service/api/api_key_pb.ts";
import {
  GetMemberRequestSchema,
  InviteMemberRequestSchema,
  ListMembersRequestSchema,
  ListTenantMembersRequestSchema,
  RemoveMemberRequestSchema,
  Member_Status as Status,
  UpdateMemberRequestSchema,
} from "../../../../gen/service/api/member_pb.ts";
import {
  type ContextChoice,
  failsWith,
  freshTenant,
  perform,
  recordedEvents,
  testDatabase,
} from "../../../../test/harness/context.ts";
import { Failure } from "../../../errors/index.ts";
import { grantableScopes } from "../../../platform/access/index.ts";
import { createCursors } from "../../../platform/cursor/index.ts";
import { classifyDatabaseError, createSignals, createTenantChanges } from "../../../platform/db/index.ts";
import { createLog } from "../../../platform/log/log.ts";
import { createApiKeys } from "../api-keys/index.ts";
import { createMembers } from "./index.ts";

const db = await testDatabase();
const events = recordedEvents();
const changes = createTenantChanges(db, createSignals(db));
const cursors = createCursors(randomBytes(32));
const clock = { now: Date.now };
const scopes = grantableScopes([]);
const apiKeys = createApiKeys({ db, clock, cursors, log: createLog("silent"), changes, events, bcryptCost: 4, scopes });
const { handlers } = createMembers({ db, changes, events, cursors, revokeKeys: apiKeys.revokeCreatedBy });

const invite = async (choice: ContextChoice, request: object) =>
  (await perform(db, choice, handlers.inviteMember, InviteMemberRequestSchema, request)).member!;
const update = async (choice: ContextChoice, memberId: string, change: object) =>
  (await perform(db, choice, handlers.updateMember, UpdateMemberRequestSchema, { memberId, ...change })).member!;
const remove = (choice: ContextChoice, memberId: string) =>
  perform(db, choice, handlers.removeMember, RemoveMemberRequestSchema, { memberId });

test("an invited member is not active before the first call, and the event contains no email address", async () => {
  const tenantId = freshTenant();
  const member = await invite({ tenantId }, { email: "Ada@example.com", displayName: "Ada", roles: ["operator"] });
  assert.equal(member.status, Status.INVITED);
  assert.deepEqual(events.recorded.at(-1), {
    tenantId,
    type: "member.invited",
    subject: member.id,
    data: { roles: ["operator"] },
  });
});

test("an email address can be invited once per tenant, ignoring case, and again after its member was removed", async () => {
  const tenantId = freshTenant();
  const member = await invite({ tenantId }, { email: "ada@example.com" });
  await invite({}, { email: "ada@example.com" });
  await assert.rejects(
    invite({ tenantId }, { email: "ADA@example.com" }),
    (error) => classifyDatabaseError(error)?.code === "ALREADY_EXISTS",
  );
  await remove({ tenantId }, member.id);
  await invite({ tenantId }, { email: "ADA@example.com" });
});

test("the error about an unknown role names its position in the request", async () => {
  const violation = (field: string) => (error: unknown) =>
    error instanceof Failure && error.code === "INVALID_ARGUMENT" && error.violations[0]?.field === field;
  const tenantId = freshTenant();
  await assert.rejects(invite({ tenantId }, { email: "a@b.c", roles: ["viewer", "boss"] }), violation("roles[1]"));
  const { id } = await invite({ tenantId }, { email: "a@b.c" });
  const roleSet = { roles: ["boss"] };
  await assert.rejects(update({ tenantId }, id, { roleSet }), violation("role_set.roles[0]"));
});

test("a caller cannot grant a role that exceeds their own, but existing roles can stay", async () => {
  const tenantId = freshTenant();
  const lesser = { tenantId, roles: ["viewer"], scopes: ["member:*"] };
  const denied = failsWith("PERMISSION_DENIED", /admin/);
  await assert.rejects(invite(lesser, { email: "eve@example.com", roles: ["admin"] }), denied);
  const { id } = await invite({ tenantId }, { email: "boss@example.com", roles: ["operator"] });
  await assert.rejects(update(lesser, id, { roleSet: { roles: ["operator", "admin"] } }), denied);
  const member = await update(lesser, id, { roleSet: { roles: ["operator", "viewer"] } });
  assert.deepEqual(member.roles, ["operator", "viewer"]);
});

test("an update changes only the given fields, and rejects a stale version", async () => {
  const tenantId = freshTenant();
  const { id } = await invite({ tenantId }, { email: "a@b.c", displayName: "A", roles: ["viewer"], subject: "s" });
  const member = await update({ tenantId }, id, { status: Status.SUSPENDED, recordVersion: 1n });
  assert.deepEqual(
    [member.displayName, member.roles, member.status, member.recordVersion],
    ["A", ["viewer"], Status.SUSPENDED, 2n],
  );
  assert.deepEqual(events.recorded.at(-1)!.data, { fields: ["status"] });
  assert.deepEqual((await update({ tenantId }, id, { roleSet: {} })).roles, []);
  await assert.rejects(
    update({ tenantId }, id, { displayName: "B", recordVersion: 1n }),
    failsWith("VERSION_CONFLICT", /version 3/),
  );
});

test("a member without a subject cannot be set to active", async () => {
  const tenantId = freshTenant();
  const { id } = await invite({ tenantId }, { email: "a@b.c" });
  await assert.rejects(update({ tenantId }, id, { status: Status.ACTIVE }), failsWith("FAILED_PRECONDITION"));
  await update({ tenantId }, id, { status: Status.SUSPENDED });
  assert.equal((await update({ tenantId }, id, { status: Status.ACTIVE })).status, Status.INVITED);
});

test("every operation reports a removed member and another tenant's member as not found", async () => {
  const tenantId = freshTenant();
  const { id: memberId } = await invite({ tenantId }, { email: "a@b.c" });
  const refused = async (choice: ContextChoice) => {
    const none = failsWith("NOT_FOUND", /^No such member\.$/);
    await assert.rejects(perform(db, choice, handlers.getMember, GetMemberRequestSchema, { memberId }), none);
    await assert.rejects(update(choice, memberId, { displayName: "x" }), none);
    await assert.rejects(remove(choice, memberId), none);
  };
  await refused({ tenantId: freshTenant() });
  assert.equal((await remove({ tenantId }, memberId)).member!.status, Status.REMOVED);
  await refused({ tenantId });
});

test("both list operations return the tenant's own members, without removed ones", async () => {
  const tenantId = freshTenant();
  await invite({}, { email: "other@example.com" });
  const removed = await invite({ tenantId }, { email: "removed@example.com" });
  for (const name of ["a", "b", "c"]) await invite({ tenantId }, { email: `${name}@example.com` });
  await remove({ tenantId }, removed.id);
  const first = await perform(db, { tenantId }, handlers.listMembers, ListMembersRequestSchema, { pageSize: 2 });
  const rest = { pageSize: 2, pageToken: first.nextPageToken };
  const second = await perform(db, { tenantId }, handlers.listMembers, ListMembersRequestSchema, rest);
  const all = await perform(db, { tenantId }, handlers.listTenantMembers, ListTenantMembersRequestSchema, {});
  assert.deepEqual(
    all.members.map((member) => member.email),
    ["a@example.com", "b@example.com", "c@example.com"],
  );
  assert.deepEqual([...first.members, ...second.members], all.members);
  assert.deepEqual([first.totalSize, second.totalSize, all.totalSize], [3, 3, 3]);
});

test("the keys that a person created end when the member is suspended or removed", async () => {
  const tenantId = freshTenant();
  const createKey = async (subject: string) => {
    const { createApiKey } = apiKeys.handlers;
    const { apiKey } = await perform(db, { tenantId, subject }, createApiKey, CreateApiKeyRequestSchema, {
      ...{ name: "deploy", roles: ["viewer"] },
    });
    return apiKey!.id;
  };
  const isValid = async (id: string) => (await apiKeys.access(db.sql, tenantId, id, Date.now())) !== undefined;
  const ada = await invite({ tenantId }, { subject: "ada", roles: ["operator"] });
  const bob = await invite({ tenantId }, { email: "bob@example.com", roles: ["operator"] });
  const keys = {
    ada: await createKey("ada"),
    session: await createKey(`member:${bob.id}`),
    other: await createKey("x"),
  };

  await update({ tenantId }, ada.id, { displayName: "Ada" });
  assert.ok(await isValid(keys.ada));
  await update({ tenantId }, ada.id, { status: Status.SUSPENDED });
  assert.deepEqual([await isValid(keys.ada), await isValid(keys.session)], [false, true]);
  await remove({ tenantId }, bob.id);
  assert.deepEqual([await isValid(keys.session), await isValid(keys.other)], [false, true]);
});
