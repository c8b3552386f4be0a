import assert from "node:assert/strict";
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
import { grantableScopes, roleGrants, type TenantId } from "../../../platform/access/index.ts";
import { classifyDatabaseError, createSignals, createTenantChanges } from "../../../platform/db/index.ts";
import { createLog } from "../../../platform/log/log.ts";
import { createApiKeys } from "../api-keys/index.ts";
import { createMembers } from "./index.ts";

const db = await testDatabase();
const events = recordedEvents();
const changes = createTenantChanges(db, createSignals(db));
const clock = { now: Date.now };
const scopes = grantableScopes(["pool:write"]);
const apiKeys = createApiKeys({
  ...{ db, clock, log: createLog("silent"), changes, events, bcryptCost: 4, scopes },
  findOwner: (...owner) => accounts.findOwner(...owner),
});
const { handlers, accounts } = createMembers({
  ...{ db, clock, changes, events },
  credentials: {
    ...{ revokeKeys: apiKeys.revokeOwnedBy, listKeys: apiKeys.listOwnedBy },
    endSessions: async () => 0,
  },
});

const invite = async (choice: ContextChoice, request: object) =>
  (await perform(db, choice, handlers.inviteMember, InviteMemberRequestSchema, request)).member!;
const update = async (choice: ContextChoice, memberId: string, change: object) =>
  (await perform(db, choice, handlers.updateMember, UpdateMemberRequestSchema, { memberId, ...change })).member!;
const activate = async (member: { id: string; tenantId: string }) => {
  await db.sql`update members set status = 'active' where tenant_id = ${member.tenantId} and id = ${member.id}`;
  return member;
};
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

async function createKey(tenantId: TenantId, creator: ContextChoice, request: object = {}): Promise<string> {
  const caller = { kind: "user", ...creator, tenantId } as const;
  const wanted = { name: "deploy", roles: ["viewer"], ...request };
  const created = await perform(db, caller, apiKeys.handlers.createApiKey, CreateApiKeyRequestSchema, wanted);
  return created.apiKey!.id;
}
const accessOf = (tenantId: TenantId, id: string) => apiKeys.access(db.sql, tenantId, id, Date.now());
const asKey = (id: string) => ({ kind: "api_key", subject: `key:${id}` }) as const;

test("the keys that a person created end when the member is suspended or removed", async () => {
  const tenantId = freshTenant();
  const isValid = async (id: string) => (await accessOf(tenantId, id)) !== undefined;
  const ada = await activate(await invite({ tenantId }, { subject: "ada", roles: ["admin"] }));
  const bob = await activate(await invite({ tenantId }, { email: "bob@example.com", roles: ["admin"] }));
  const keys = {
    ada: await createKey(tenantId, { subject: "ada" }),
    session: await createKey(tenantId, { subject: `member:${bob.id}` }),
    other: await createKey(tenantId, { subject: "x" }),
  };

  await update({ tenantId }, ada.id, { displayName: "Ada" });
  assert.ok(await isValid(keys.ada));
  await update({ tenantId }, ada.id, { status: Status.SUSPENDED });
  assert.deepEqual([await isValid(keys.ada), await isValid(keys.session)], [false, true]);
  await remove({ tenantId }, bob.id);
  assert.deepEqual([await isValid(keys.session), await isValid(keys.other)], [false, true]);
});

test("the end of a member revokes the keys that the person's keys created, however long the chain, and no others", async () => {
  const tenantId = freshTenant();
  const ada = await activate(await invite({ tenantId }, { subject: "ada", roles: ["admin"] }));
  const chain = [await createKey(tenantId, { subject: "ada" }, { roles: ["admin"] })];
  while (chain.length < 15) chain.push(await createKey(tenantId, asKey(chain.at(-1)!), { roles: ["admin"] }));
  const bobs = await createKey(tenantId, { subject: "bob" });
  await update({ tenantId }, ada.id, { status: Status.SUSPENDED });
  for (const id of chain) assert.equal(await accessOf(tenantId, id), undefined);
  assert.ok(await accessOf(tenantId, bobs));
  await update({ tenantId }, ada.id, { status: Status.ACTIVE });
  for (const id of chain) assert.equal(await accessOf(tenantId, id), undefined, "keys do not come back");
});

test("a key never has more than its owner has now: the admin key of a demoted person is a viewer's", async () => {
  const tenantId = freshTenant();
  const ada = await activate(await invite({ tenantId }, { subject: "ada", roles: ["admin"] }));
  const first = await createKey(tenantId, { subject: "ada" }, { roles: ["admin"] });
  const second = await createKey(tenantId, asKey(first), { roles: ["admin"], scopes: ["pool:write"] });
  await update({ tenantId }, ada.id, { roleSet: { roles: ["viewer"] } });
  for (const id of [first, second]) {
    const access = (await accessOf(tenantId, id))!;
    assert.deepEqual([access.roles, access.scopes], [["viewer"], new Set(roleGrants.viewer)]);
  }
  await update({ tenantId }, ada.id, { environmentMode: "production_only" });
  assert.equal((await accessOf(tenantId, second))!.environmentMode, "production_only");
  await update({ tenantId }, ada.id, { roleSet: { roles: ["admin"] } });
  assert.deepEqual((await accessOf(tenantId, second))!.roles, ["admin"], "the access comes back with the roles");
});

test("roles that only a person's token had stay with the keys, because the service cannot look them up", async () => {
  const tenantId = freshTenant();
  const ada = await activate(await invite({ tenantId }, { subject: "ada", roles: ["operator"] }));
  const key = await createKey(tenantId, { subject: "ada" }, { roles: ["admin"] });
  assert.deepEqual((await accessOf(tenantId, key))!.roles, ["admin"]);
  await update({ tenantId }, ada.id, { roleSet: { roles: [] } });
  assert.deepEqual((await accessOf(tenantId, key))!.roles, ["admin"]);
  await update({ tenantId }, ada.id, { status: Status.SUSPENDED });
  assert.equal(await accessOf(tenantId, key), undefined);
});

test("a suspension that runs at the same time either revokes a new key or prevents it", async () => {
  const tenantId = freshTenant();
  for (let round = 0; round < 5; round++) {
    const subject = `person-${round}`;
    const member = await activate(
      await invite({ tenantId }, { subject, email: `${subject}@example.com`, roles: ["admin"] }),
    );
    const [created] = await Promise.allSettled([
      createKey(tenantId, { subject }),
      update({ tenantId }, member.id, { status: Status.SUSPENDED }),
    ]);
    await update({ tenantId }, member.id, { status: Status.ACTIVE });
    if (created.status === "fulfilled") assert.equal(await accessOf(tenantId, created.value), undefined);
    else assert.ok(failsWith("UNAUTHENTICATED")(created.reason), String(created.reason));
  }
});
