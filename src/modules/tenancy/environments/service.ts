import type { Context } from "../../../chain/call.ts";
import { fail } from "../../../errors/index.ts";
import { covers, mayUseEnvironment, type Principal, type TenantId } from "../../../platform/access/index.ts";
import { requireFound, type Sql, unchangedRecord, updateRefusal } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { changedFields, isEmptyChange, newStamps } from "../../../platform/records/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import {
  canChangeStatus,
  defaultPromotionPolicy,
  type Environment,
  type EnvironmentChange,
  type EnvironmentStatus,
  type NewEnvironment,
} from "./domain/environment.ts";
import { environmentStore } from "./store.ts";

export type EnvironmentService = ReturnType<typeof createEnvironmentService>;

export interface EnvironmentParts extends Pick<PlatformServices, "changes"> {
  readonly events: EventRecorder;
}

export function createEnvironmentService({ events, changes }: EnvironmentParts) {
  async function getEnvironment({ sql, tenantId, principal }: Context, idOrKey: string): Promise<Environment> {
    const environment = requireFound(await environmentStore(sql).find(tenantId, idOrKey), "environment");
    requireEnvironmentAccess(principal, environment.key);
    return environment;
  }

  async function change(
    context: Context,
    idOrKey: string,
    update: EnvironmentChange,
    expectedVersion: number | undefined,
  ): Promise<Environment> {
    const { sql, tenantId, principal, nowMs } = context;
    const current = await getEnvironment(context, idOrKey);
    if (update.promotionPolicy !== undefined) requirePolicyScope(principal);
    if (update.status !== undefined && !canChangeStatus(current, update.status))
      throw productionIsProtected(update.status);
    const store = environmentStore(sql);
    const changed = await store.update(tenantId, current.id, update, expectedVersion, new Date(nowMs));
    if (changed === undefined) throw updateRefusal(await store.find(tenantId, current.id), "environment");
    // The key can belong to another environment from now on.
    await changes.invalidate(context);
    return changed;
  }

  return {
    getEnvironment,

    /** Adds the environments of a new tenant in the caller's transaction. */
    async add(sql: Sql, tenantId: TenantId, environments: readonly NewEnvironment[], nowMs: number): Promise<void> {
      if (environments.length > 0) {
        await environmentStore(sql).insertMany(environments.map((each) => newEnvironment(tenantId, each, nowMs)));
      }
    },

    async createEnvironment(context: Context, input: NewEnvironment): Promise<Environment> {
      requireEnvironmentAccess(context.principal, input.key);
      const [created] = await environmentStore(context.sql).insertMany([
        newEnvironment(context.tenantId, input, context.nowMs),
      ]);
      await changes.invalidate(context);
      await events.record(context, "environment.created", created!.id, { key: input.key, mode: input.mode });
      return created!;
    },

    async updateEnvironment(
      context: Context,
      idOrKey: string,
      update: EnvironmentChange,
      expectedVersion: number | undefined,
    ): Promise<Environment> {
      if (isEmptyChange(update)) {
        return unchangedRecord(await getEnvironment(context, idOrKey), expectedVersion, "environment");
      }
      const updated = await change(context, idOrKey, update, expectedVersion);
      await events.record(context, "environment.updated", updated.id, { fields: changedFields(update) });
      return updated;
    },

    async deleteEnvironment(context: Context, idOrKey: string): Promise<Environment> {
      const deleted = await change(context, idOrKey, { status: "deleted" }, undefined);
      await events.record(context, "environment.deleted", deleted.id, { key: deleted.key });
      return deleted;
    },
  };
}

function newEnvironment(tenantId: TenantId, input: NewEnvironment, nowMs: number): Environment {
  const promotionPolicy = defaultPromotionPolicy;
  return { ...input, tenantId, id: ulid(nowMs), status: "active", promotionPolicy, ...newStamps(nowMs) };
}

function requireEnvironmentAccess(principal: Principal, key: string): void {
  if (mayUseEnvironment(principal, key)) return;
  throw fail("PERMISSION_DENIED", { public: `The caller is not allowed to use the environment ${key}.` });
}

/** Throws unless the caller may approve promotions: only such a caller changes what an approval needs. */
function requirePolicyScope({ scopes }: Principal): void {
  if (covers(scopes, "promotion:approve")) return;
  throw fail("PERMISSION_DENIED", {
    public: "The caller needs the scope promotion:approve to change promotion_policy.",
  });
}

function productionIsProtected(status: EnvironmentStatus) {
  return fail("FAILED_PRECONDITION", { public: `The environment production cannot be ${status}.` });
}
