import type { Context } from "../../../chain/call.ts";
import { fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { notFound, requireFound, type Sql, unchangedRecord, updateRefusal } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { enqueueJobs } from "../../../platform/jobs/index.ts";
import { changedFields, isEmptyChange, newStamps } from "../../../platform/records/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { ApiKeys } from "../api-keys/index.ts";
import type { Environments } from "../environments/index.ts";
import {
  defaultEnvironments,
  platformOnlyField,
  removedQuotas,
  slugOf,
  type Tenant,
  type TenantChange,
} from "./domain/tenant.ts";
import { purgeTenantKind } from "./jobs.ts";
import { tenantStore } from "./store.ts";

export interface TenantParts extends Pick<PlatformServices, "changes"> {
  readonly events: EventRecorder;
  readonly apiKeys: ApiKeys;
  readonly environments: Environments;
  readonly purgeAfterDays: number;
}

export interface NewTenant extends Pick<Tenant, "name" | "slug" | "plan" | "settings" | "quotas"> {
  readonly platform?: boolean;
}

export type TenantService = ReturnType<typeof createTenantService>;

export function createTenantService({ changes, events, apiKeys, environments, purgeAfterDays }: TenantParts) {
  /** Inserts a tenant with its environments in the caller's transaction. Also creates the platform tenant. */
  async function addTenant(sql: Sql, input: NewTenant, nowMs: number): Promise<Tenant> {
    const id = ulid(nowMs) as TenantId;
    const removed = removedQuotas(input.quotas);
    const tenant = await tenantStore(sql).insert({
      ...input,
      quotas: Object.fromEntries(Object.entries(input.quotas).filter(([operation]) => !removed.includes(operation))),
      id,
      slug: input.slug === "" ? slugOf(input.name, id.slice(-6).toLowerCase()) : input.slug,
      status: "active",
      platform: input.platform ?? false,
      ...newStamps(nowMs),
    });
    await environments.add(sql, id, defaultEnvironments, nowMs);
    return tenant;
  }

  /** Only the platform tenant can access other tenants; for all others they do not exist. */
  function requireAccess(context: Context, tenantId: string): TenantId {
    if (tenantId !== context.tenantId && !context.platform) throw notFound("tenant");
    return tenantId as TenantId;
  }

  return {
    addTenant,

    async createTenant(context: Context, input: NewTenant, issueAdminKey: boolean) {
      if (!context.platform && context.plane !== "internal") {
        throw fail("PERMISSION_DENIED", { public: "Only the platform tenant may create tenants." });
      }
      const tenant = await addTenant(context.sql, input, context.nowMs);
      await events.record(context, "tenant.created", tenant.id, { name: tenant.name, slug: tenant.slug }, tenant.id);
      const adminKey = issueAdminKey
        ? (await apiKeys.issue(context, tenant.id, { name: "first admin", roles: ["admin"] })).secret
        : undefined;
      return { tenant, adminKey };
    },

    async getTenant(context: Context, tenantId: string): Promise<Tenant> {
      return requireFound(await tenantStore(context.sql).find(requireAccess(context, tenantId)), "tenant");
    },

    async updateTenant(context: Context, tenantId: string, change: TenantChange, expectedVersion: number | undefined) {
      const id = requireAccess(context, tenantId);
      if (isEmptyChange(change)) {
        const current = await tenantStore(context.sql).find(id);
        return unchangedRecord(current?.status === "deleted" ? undefined : current, expectedVersion, "tenant");
      }
      const restricted = platformOnlyField(change);
      if (restricted !== undefined && !context.platform) {
        throw fail("PERMISSION_DENIED", { public: `Only the platform tenant may change ${restricted}.` });
      }
      const store = tenantStore(context.sql);
      if (change.status === "suspended") await rejectPlatformTenant(store, id, "suspended");
      const tenant = await store.update(id, change, expectedVersion, new Date(context.nowMs));
      if (tenant === undefined) {
        const current = await store.find(id);
        throw updateRefusal(current?.status === "deleted" ? undefined : current, "tenant");
      }
      await changes.invalidate(context, id);
      await events.record(context, "tenant.updated", id, { fields: changedFields(change) }, id);
      return tenant;
    },

    async deleteTenant(context: Context, tenantId: string): Promise<Tenant> {
      const id = requireAccess(context, tenantId);
      if (!context.platform) {
        throw fail("PERMISSION_DENIED", { public: "Only the platform tenant may delete tenants." });
      }
      const store = tenantStore(context.sql);
      await rejectPlatformTenant(store, id, "deleted");
      const deleted = await store.markDeleted(id, new Date(context.nowMs));
      // Deletion is idempotent.
      if (deleted === undefined) return this.getTenant(context, tenantId);
      const runAt = new Date(context.nowMs + purgeAfterDays * 86_400_000);
      await enqueueJobs(
        context.sql,
        [{ tenantId: id, kind: purgeTenantKind, runAt, dedupeKey: "purge" }],
        context.nowMs,
      );
      await changes.invalidate(context, id);
      await events.record(context, "tenant.deleted", id, { purge_at: runAt.toISOString() }, id);
      return deleted;
    },
  };
}

async function rejectPlatformTenant(store: ReturnType<typeof tenantStore>, id: TenantId, what: string): Promise<void> {
  if ((await store.find(id))?.platform) {
    throw fail("FAILED_PRECONDITION", { public: `The platform tenant cannot be ${what}.` });
  }
}
