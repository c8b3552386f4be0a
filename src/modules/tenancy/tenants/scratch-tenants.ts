import type { AfterCommit } from "../../../chain/call.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { enqueueJobs } from "../../../platform/jobs/index.ts";
import type { ApiKeys, NewApiKey } from "../api-keys/index.ts";
import { purgeTenantKind } from "./jobs.ts";
import type { TenantParts, TenantService } from "./service.ts";
import { tenantStore } from "./store.ts";

/** Creates and removes tenants for the service's own work. */
export type ScratchTenants = ReturnType<typeof createScratchTenants>;

interface Dependencies extends Pick<TenantParts, "changes"> {
  readonly apiKeys: Pick<ApiKeys, "issue">;
  readonly addTenant: TenantService["addTenant"];
}

/** The work that a change of scratch tenants is part of. */
interface Work {
  readonly sql: Sql;
  readonly nowMs: number;
  /** Who does it, such as `service:conformance`. */
  readonly subject: string;
  afterCommit(action: AfterCommit): void;
}

const scratchPlan = "scratch";
/** How long after its removal the rows of a scratch tenant are deleted. Its work has ended by then, and can be examined. */
const purgeAfterMs = 3_600_000;

export function createScratchTenants({ changes, apiKeys, addTenant }: Dependencies) {
  return {
    /** Creates a tenant with API keys, and returns their texts by name. */
    async create<K extends string>(
      work: Work,
      name: string,
      keys: Readonly<Partial<Record<K, Omit<NewApiKey, "name">>>>,
    ): Promise<{ readonly id: TenantId; readonly keys: Readonly<Partial<Record<K, string>>> }> {
      const { sql, nowMs, subject } = work;
      const input = { name, slug: "", plan: scratchPlan, settings: {}, quotas: {} };
      const { id } = await addTenant(sql, input, nowMs);
      const context = { ...work, tenantId: id, principal: { subject } };
      const texts: Partial<Record<K, string>> = {};
      for (const key of Object.keys(keys) as K[]) {
        texts[key] = (await apiKeys.issue(context, id, { name: key, ...keys[key] })).secret;
      }
      return { id, keys: texts };
    },

    /** Removes a scratch tenant: its keys are invalid at once, and its rows are deleted an hour later. Other tenants stay. */
    async remove({ sql, nowMs, afterCommit }: Work, id: TenantId): Promise<void> {
      const store = tenantStore(sql);
      if ((await store.find(id))?.plan !== scratchPlan) return;
      if ((await store.markDeleted(id, new Date(nowMs))) === undefined) return;
      const runAt = new Date(nowMs + purgeAfterMs);
      await enqueueJobs(sql, [{ tenantId: id, kind: purgeTenantKind, runAt, dedupeKey: "purge" }], nowMs);
      await changes.record(sql, id);
      afterCommit(() => changes.published(id));
    },
  };
}
