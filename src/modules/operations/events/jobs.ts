import type { TenantId } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";
import { eventStore } from "./store.ts";

const hourMs = 3_600_000;
const batchSize = 5000;

interface Dependencies {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly retentionDays: number;
  readonly tenantSettingsEnabled: boolean;
  readonly platformTenantId: () => string;
}

/** Deletes expired events. The retention is the tenant's own setting, else the instance's. */
export function expiredEventsJob({
  sql,
  clock,
  retentionDays,
  tenantSettingsEnabled,
  platformTenantId,
}: Dependencies): JobKind {
  return {
    kind: "events.delete_expired",
    every: { ms: hourMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const tenants = await sql<{ id: TenantId; days: number }[]>`
        select id, coalesce((value #>> '{}')::int, ${retentionDays}) as days
        from tenants left join config_values on tenant_id = id and key = 'events.retention_days' and ${tenantSettingsEnabled}`;
      for (const { id, days } of tenants) {
        const before = new Date(clock.now() - days * 24 * hourMs);
        await runInBatches(signal, batchSize, (limit) => eventStore(sql).deleteExpired(id, before, limit));
      }
    },
  };
}
