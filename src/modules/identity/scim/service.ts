import type { TenantId } from "../../../platform/access/index.ts";
import { lockFor, type Sql } from "../../../platform/db/index.ts";
import { isUlid, ulid } from "../../../platform/ids/ulid.ts";
import { newStamps } from "../../../platform/records/index.ts";
import type { EventContext, EventRecorder } from "../../operations/index.ts";
import type { Member, MemberAccounts } from "../../tenancy/index.ts";
import type { Filter } from "./domain/filter.ts";
import { matches, type ScimObject } from "./domain/filter-match.ts";
import { applyPatch, type PatchOperation } from "./domain/patch.ts";
import { profileOf } from "./domain/person.ts";
import { includes, type Projection, project } from "./domain/projection.ts";
import { type Attributes, requireAttributes } from "./domain/resource.ts";
import { groupType, userType } from "./domain/schema.ts";
import { badRequest, ScimError } from "./domain/scim-error.ts";
import { groupResource, userResource, versionOf } from "./representation.ts";
import {
  type Lookup,
  type ResourceStore,
  type ScimGroup,
  type ScimUser,
  scimGroupStore,
  scimUserStore,
} from "./store.ts";

export interface ScimParts {
  readonly events: EventRecorder;
  readonly members: MemberAccounts;
  /** The URL of the SCIM endpoint. */
  readonly baseUrl: () => string;
}

/** The page of a list. */
export interface ListRequest {
  readonly filter: Filter | undefined;
  /** From 1. */
  readonly startIndex: number;
  readonly count: number;
  readonly projection: Projection;
}

/** The resources of a page, and the number of all that match. */
export interface ListResult {
  readonly total: number;
  readonly resources: readonly ScimObject[];
}

/** A resource with its version. */
export interface Stored {
  readonly resource: ScimObject;
  readonly version: string;
}

export type ScimService = ReturnType<typeof createScimService>;

const scannedAtOnce = 500;
const actor = "scim";

export function createScimService(dependencies: ScimParts) {
  const { events, members, baseUrl } = dependencies;

  /** Shows people with their groups. */
  async function showUsers(sql: Sql, tenantId: TenantId, users: readonly ScimUser[]): Promise<ScimObject[]> {
    const ids = users.map(({ id }) => id);
    const groups = Map.groupBy(await scimGroupStore(sql).memberships(tenantId, "user", ids), ({ userId }) => userId);
    return users.map((user) => userResource(user, groups.get(user.id) ?? [], baseUrl()));
  }

  /** Shows groups with their people. */
  async function showGroups(sql: Sql, tenantId: TenantId, groups: readonly ScimGroup[]): Promise<ScimObject[]> {
    const ids = groups.map(({ id }) => id);
    const people = Map.groupBy(await scimGroupStore(sql).memberships(tenantId, "group", ids), ({ groupId }) => groupId);
    return groups.map((group) => groupResource(group, people.get(group.id) ?? [], baseUrl()));
  }

  async function shownUser(sql: Sql, user: ScimUser): Promise<Stored> {
    const [resource] = await showUsers(sql, user.tenantId, [user]);
    return { resource: resource!, version: versionOf(user) };
  }

  async function shownGroup(sql: Sql, group: ScimGroup): Promise<Stored> {
    const [resource] = await showGroups(sql, group.tenantId, [group]);
    return { resource: resource!, version: versionOf(group) };
  }

  /** Sets the roles that people have through their groups; of all people if no ids are given. */
  async function applyGroupRoles(context: EventContext, userIds?: readonly string[]): Promise<void> {
    const { sql, tenantId } = context;
    // A change of a group and a change of roles at the same time must both be seen by the later one.
    await lockFor(sql, "group_roles", tenantId);
    const roles = await scimUserStore(sql).rolesByMember(tenantId, userIds);
    await members.setRolesOf("group", context, roles);
  }

  async function endAccess(context: EventContext, member: Pick<Member, "id" | "subject">): Promise<void> {
    await events.record(context, "scim_user.deactivated", member.id, await members.endAccess(context, member, actor));
  }

  /** Finds the member that a new person is, or creates it. */
  async function memberFor(context: EventContext, attributes: Attributes): Promise<Member> {
    const { sql, tenantId } = context;
    const profile = profileOf(attributes);
    const found = await members.findByEmail(sql, tenantId, profile.email);
    if (found === undefined) return members.create(context, { ...profile, roles: [] });
    if ((await scimUserStore(sql).findByMember(tenantId, found.id)) !== undefined) {
      throw new ScimError(409, "Another person has this email address.", "uniqueness");
    }
    await members.update(context, found, { displayName: profile.displayName, isActive: profile.isActive });
    if (!profile.isActive) await endAccess(context, found);
    return found;
  }

  async function requireFreeName(sql: Sql, tenantId: TenantId, userName: string, ownId?: string): Promise<void> {
    const other = await scimUserStore(sql).findByName(tenantId, userName);
    if (other !== undefined && other.id !== ownId) {
      throw new ScimError(409, "Another person has this userName.", "uniqueness");
    }
  }

  /** Stores changed attributes of a person, and applies them to the member. */
  async function changeUser(context: EventContext, user: ScimUser, changed: Attributes): Promise<ScimUser> {
    const { sql, tenantId, nowMs } = context;
    // A directory that does not say whether a person is active, or removes the attribute, does not change it.
    const attributes: Attributes = { ...changed, active: changed.active ?? user.active };
    requireAttributes(userType, attributes);
    const profile = profileOf(attributes);
    const userName = attributes.userName as string;
    await requireFreeName(sql, tenantId, userName, user.id);
    const member = await members.find(sql, tenantId, user.memberId);
    if (member !== undefined) {
      const isMoved = profile.email.toLowerCase() !== member.email.toLowerCase();
      if (isMoved && (await members.findByEmail(sql, tenantId, profile.email)) !== undefined) {
        throw new ScimError(409, "Another member has this email address.", "uniqueness");
      }
      const change = {
        ...(isMoved && { email: profile.email }),
        ...(profile.displayName !== member.displayName && { displayName: profile.displayName }),
        ...(profile.isActive !== user.active && { isActive: profile.isActive }),
      };
      if (Object.keys(change).length > 0) await members.update(context, member, change);
      if (user.active && !profile.isActive) await endAccess(context, member);
    }
    const { active: _, ...stored } = attributes;
    const externalId = (attributes.externalId as string | undefined) ?? "";
    const change = { userName, externalId, active: profile.isActive, attributes: stored };
    return (await scimUserStore(sql).update(tenantId, user.id, change, undefined, new Date(nowMs)))!;
  }

  /** Stores a group's name and members, and applies the roles of those who came or went. */
  async function changeGroup(context: EventContext, group: ScimGroup, attributes: Attributes): Promise<ScimGroup> {
    const { sql, tenantId, nowMs } = context;
    requireAttributes(groupType, attributes);
    const store = scimGroupStore(sql);
    const displayName = attributes.displayName as string;
    const other = await store.findByName(tenantId, displayName);
    if (other !== undefined && other.id !== group.id) {
      throw new ScimError(409, "Another group has this displayName.", "uniqueness");
    }
    const before = await store.memberIds(tenantId, group.id);
    const wanted = memberIdsIn(attributes);
    const known = new Set(before);
    const added = wanted.filter((id) => !known.has(id));
    // Sets, because a group can have every person of a tenant.
    const kept = new Set(wanted);
    const removed = before.filter((id) => !kept.has(id));
    const existing = new Set(await scimUserStore(sql).existing(tenantId, added));
    const missing = added.find((id) => !existing.has(id));
    if (missing !== undefined) throw badRequest("invalidValue", `There is no person with the id ${missing}.`);
    if (added.length > 0) await store.addMembers(tenantId, group.id, added);
    if (removed.length > 0) await store.removeMembers(tenantId, group.id, removed);
    const externalId = (attributes.externalId as string | undefined) ?? "";
    const change = { displayName, externalId };
    const changed = (await store.update(tenantId, group.id, change, undefined, new Date(nowMs)))!;
    const isRenamed = displayName.toLowerCase() !== group.displayName.toLowerCase();
    await applyGroupRoles(context, isRenamed ? [...new Set([...before, ...wanted])] : [...added, ...removed]);
    await events.record(context, "scim_group.changed", group.id, {
      ...{ display_name: displayName, added: added.length, removed: removed.length },
    });
    return changed;
  }

  const lockedUser = ({ sql, tenantId }: EventContext, id: string, ifMatch: string | undefined) =>
    locked(scimUserStore(sql), "person", tenantId, id, ifMatch);
  const lockedGroup = ({ sql, tenantId }: EventContext, id: string, ifMatch: string | undefined) =>
    locked(scimGroupStore(sql), "group", tenantId, id, ifMatch);

  return {
    applyGroupRoles: (context: EventContext) => applyGroupRoles(context),

    async createUser(context: EventContext, attributes: Attributes): Promise<Stored> {
      requireAttributes(userType, attributes);
      const { sql, tenantId, nowMs } = context;
      const userName = attributes.userName as string;
      await lockFor(sql, "scim_user", tenantId, userName.toLowerCase());
      await requireFreeName(sql, tenantId, userName);
      const member = await memberFor(context, attributes);
      const { active: _, ...stored } = attributes;
      const externalId = (attributes.externalId as string | undefined) ?? "";
      const ids = { tenantId, id: ulid(nowMs), memberId: member.id, userName, externalId };
      const { isActive } = profileOf(attributes);
      const user = { ...ids, active: isActive, attributes: stored, ...newStamps(nowMs) };
      const inserted = await scimUserStore(sql).insert(user);
      await events.record(context, "scim_user.provisioned", inserted.id, { member_id: member.id, active: isActive });
      return shownUser(sql, inserted);
    },

    async getUser({ sql, tenantId }: EventContext, id: string): Promise<Stored> {
      const user = isUlid(id) ? await scimUserStore(sql).find(tenantId, id) : undefined;
      if (user === undefined) throw notFound("person", id);
      return shownUser(sql, user);
    },

    async replaceUser(context: EventContext, id: string, attributes: Attributes, ifMatch?: string): Promise<Stored> {
      const user = await lockedUser(context, id, ifMatch);
      return shownUser(context.sql, await changeUser(context, user, attributes));
    },

    async patchUser(context: EventContext, id: string, operations: readonly PatchOperation[], ifMatch?: string) {
      const user = await lockedUser(context, id, ifMatch);
      const patched = applyPatch(userType, { ...user.attributes, active: user.active }, operations);
      return shownUser(context.sql, await changeUser(context, user, patched));
    },

    async deleteUser(context: EventContext, id: string, ifMatch?: string): Promise<void> {
      const { sql, tenantId } = context;
      const user = await lockedUser(context, id, ifMatch);
      const member = await members.find(sql, tenantId, user.memberId);
      await scimUserStore(sql).remove(tenantId, id);
      if (member === undefined) return;
      await members.remove(context, member.id);
      await endAccess(context, member);
    },

    async listUsers({ sql, tenantId }: EventContext, request: ListRequest): Promise<ListResult> {
      const show = (users: readonly ScimUser[]) => showUsers(sql, tenantId, users);
      return list(scimUserStore(sql), tenantId, request, userType, "userName", show, show);
    },

    async createGroup(context: EventContext, attributes: Attributes): Promise<Stored> {
      requireAttributes(groupType, attributes);
      const { sql, tenantId, nowMs } = context;
      const displayName = attributes.displayName as string;
      await lockFor(sql, "scim_group", tenantId, displayName.toLowerCase());
      if ((await scimGroupStore(sql).findByName(tenantId, displayName)) !== undefined) {
        throw new ScimError(409, "Another group has this displayName.", "uniqueness");
      }
      const externalId = (attributes.externalId as string | undefined) ?? "";
      const group = { tenantId, id: ulid(nowMs), displayName, externalId, ...newStamps(nowMs) };
      const inserted = await scimGroupStore(sql).insert(group);
      const isEmpty = memberIdsIn(attributes).length === 0;
      return shownGroup(sql, isEmpty ? inserted : await changeGroup(context, inserted, attributes));
    },

    async getGroup({ sql, tenantId }: EventContext, id: string, projection: Projection): Promise<Stored> {
      const group = isUlid(id) ? await scimGroupStore(sql).find(tenantId, id) : undefined;
      if (group === undefined) throw notFound("group", id);
      if (includes(projection, "members")) return shownGroup(sql, group);
      return { resource: groupResource(group, [], baseUrl()), version: versionOf(group) };
    },

    async replaceGroup(context: EventContext, id: string, attributes: Attributes, ifMatch?: string): Promise<Stored> {
      const group = await lockedGroup(context, id, ifMatch);
      return shownGroup(context.sql, await changeGroup(context, group, attributes));
    },

    async patchGroup(context: EventContext, id: string, operations: readonly PatchOperation[], ifMatch?: string) {
      const { sql, tenantId } = context;
      const group = await lockedGroup(context, id, ifMatch);
      const ids = await scimGroupStore(sql).memberIds(tenantId, id);
      const attributes: Attributes = {
        displayName: group.displayName,
        ...(group.externalId !== "" && { externalId: group.externalId }),
        ...(ids.length > 0 && { members: ids.map((value) => ({ value })) }),
      };
      const patched = applyPatch(groupType, attributes, operations);
      return shownGroup(sql, await changeGroup(context, group, patched));
    },

    async deleteGroup(context: EventContext, id: string, ifMatch?: string): Promise<void> {
      const { sql, tenantId } = context;
      const group = await lockedGroup(context, id, ifMatch);
      const ids = await scimGroupStore(sql).memberIds(tenantId, id);
      await scimGroupStore(sql).remove(tenantId, id);
      if (ids.length > 0) await applyGroupRoles(context, ids);
      await events.record(context, "scim_group.deleted", id, { display_name: group.displayName });
    },

    async listGroups({ sql, tenantId }: EventContext, request: ListRequest): Promise<ListResult> {
      const plain = async (groups: readonly ScimGroup[]) => groups.map((group) => groupResource(group, [], baseUrl()));
      const whole = (groups: readonly ScimGroup[]) => showGroups(sql, tenantId, groups);
      const toShow = includes(request.projection, "members") ? whole : plain;
      const toTest = request.filter !== undefined && namesAttribute(request.filter, "members") ? whole : plain;
      return list(scimGroupStore(sql), tenantId, request, groupType, "displayName", toTest, toShow);
    },
  };

  /** Reads a page. Records are read in batches and tested one by one, unless an index finds them. */
  async function list<R extends ScimUser | ScimGroup>(
    store: Pick<ResourceStore<R>, "count" | "page" | "scan">,
    tenantId: TenantId,
    { filter, startIndex, count, projection }: ListRequest,
    type: typeof userType,
    nameAttribute: string,
    toTest: (records: readonly R[]) => Promise<readonly ScimObject[]>,
    toShow: (records: readonly R[]) => Promise<readonly ScimObject[]>,
  ): Promise<ListResult> {
    const shown = async (records: readonly R[]) =>
      (await toShow(records)).map((resource) => project(type, resource, projection));
    if (filter === undefined) {
      const records = count === 0 ? [] : await store.page(tenantId, startIndex - 1, count);
      return { total: await store.count(tenantId), resources: await shown(records) };
    }
    // Tested on nothing, so that a filter that cannot be evaluated is refused even without records.
    matches(filter, {}, type);
    const lookup = lookupIn(filter, nameAttribute);
    const page: R[] = [];
    let total = 0;
    for (let after = ""; ; ) {
      const records = await store.scan(tenantId, lookup, after, scannedAtOnce);
      const resources = await toTest(records);
      for (const [at, record] of records.entries()) {
        if (!matches(filter, resources[at]!, type)) continue;
        total++;
        if (total >= startIndex && page.length < count) page.push(record);
      }
      if (records.length < scannedAtOnce) break;
      after = records.at(-1)!.id;
    }
    return { total, resources: await shown(page) };
  }
}

/** A condition that an index answers, which everything that matches the filter meets. */
function lookupIn(filter: Filter, nameAttribute: string): Lookup | undefined {
  if (filter.op === "and") {
    for (const each of filter.filters) {
      const found = lookupIn(each, nameAttribute);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (filter.op !== "eq" || typeof filter.value !== "string" || filter.value === "") return undefined;
  const name = filter.path.toLowerCase().split(":").at(-1);
  if (name === "id") return { column: "id", value: filter.value };
  if (name === "externalid") return { column: "external_id", value: filter.value };
  return name === nameAttribute.toLowerCase() ? { column: "name", value: filter.value } : undefined;
}

/** Whether a filter tests an attribute. */
function namesAttribute(filter: Filter, name: string): boolean {
  if (filter.op === "and" || filter.op === "or") return filter.filters.some((each) => namesAttribute(each, name));
  if (filter.op === "not") return namesAttribute(filter.filter, name);
  const { path } = filter as Extract<Filter, { readonly path: string }>;
  return path.toLowerCase().split(":").at(-1)!.split(".")[0] === name;
}

function memberIdsIn(attributes: Attributes): string[] {
  const listed = (attributes.members as readonly ScimObject[] | undefined) ?? [];
  return [...new Set(listed.flatMap(({ value }) => (typeof value === "string" ? [value] : [])))];
}

/** Locks a resource that has the version that a request expects, if it does. */
async function locked<R extends ScimUser | ScimGroup>(
  { lock }: Pick<ResourceStore<R>, "lock">,
  what: string,
  tenantId: TenantId,
  id: string,
  ifMatch: string | undefined,
): Promise<R> {
  const record = isUlid(id) ? await lock(tenantId, id) : undefined;
  if (record === undefined) throw notFound(what, id);
  if (ifMatch === undefined || ifMatch.trim() === "*") return record;
  const tags = ifMatch.split(",").map((each) => each.trim().replace(/^W\//, ""));
  if (tags.includes(versionOf(record).replace(/^W\//, ""))) return record;
  throw new ScimError(412, "The resource was changed by somebody else. Read it again.");
}

function notFound(what: string, id: string): ScimError {
  return new ScimError(404, `There is no ${what} with the id ${id.slice(0, 64)}.`);
}
