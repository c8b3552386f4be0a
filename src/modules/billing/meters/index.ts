/**
 * Meters: what is counted.
 *
 * Service meter: counted by the service itself, from what it has stored. Usage: a record of a meter, which counts once for
 * its transaction id. Window: a range of time that the service counts as one record. Watermark: the time up to which the
 * service has counted its own meters.
 */

import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { UsageSource, UsageWindow } from "../../usage-source.ts";
import type { Operators } from "../operators.ts";
import type { PlanChange } from "../subscriptions/index.ts";
import { createCollector } from "./collection/collector.ts";
import { usageJobs } from "./collection/jobs.ts";
import { storageUsage } from "./collection/storage-source.ts";
import { windowEnd } from "./collection/windows.ts";
import { meterHandlers } from "./handler.ts";
import { createMeterService } from "./meter-service.ts";
import { createUsageService } from "./usage-service.ts";

export { storageUsage };

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "metrics" | "platformTenantId"> {
  readonly events: EventRecorder;
  readonly operators: Operators;
  readonly sources: readonly UsageSource[];
  /** Prevents the invoicing of a tenant until the transaction ends; returns the end of its last invoiced period. */
  readonly holdInvoices: (tx: Sql, tenantId: TenantId) => Promise<Date | undefined>;
  /** The start of a tenant's current billing period; undefined without a subscription. */
  readonly findPeriodStart: (sql: Sql, tenantId: TenantId) => Promise<Date | undefined>;
  /** When the first subscription of all tenants started; undefined without one. */
  readonly findFirstStart: (sql: Sql) => Promise<Date | undefined>;
  /** The changes of the plans and periods of all tenants within a range. */
  readonly findChanges: (sql: Sql, range: UsageWindow) => Promise<PlanChange[]>;
}

/** The module's public API. */
export type Meters = ReturnType<typeof createMeters>;

export function createMeters({ db, sources, ...parts }: Dependencies) {
  const meters = createMeterService(parts);
  const usage = createUsageService({ ...parts, meters });
  const collector = createCollector({ ...parts, db, sources });
  return {
    handlers: meterHandlers({ ...parts, meters, usage, collector }),
    jobs: usageJobs(collector, { ...parts, db }),
    collector,
    /** Which of some meters exist and are not archived. */
    async findMeters(sql: Sql, keys: readonly string[]): Promise<ReadonlySet<string>> {
      const active = (await meters.all(sql)).filter(({ status }) => status === "active");
      return new Set(active.map(({ key }) => key).filter((key) => keys.includes(key)));
    },
    aggregateMany: usage.aggregateMany,
    /** The time up to which the service has counted its own meters. */
    watermark: collector.watermark,
    /** Whether the service has counted its own usage before a time for the last time. */
    async isSettled(until: Date): Promise<boolean> {
      const settled = (await collector.watermark(db.sql))?.settledUntil;
      return settled !== undefined && settled.getTime() >= windowEnd(until.getTime());
    },
  };
}
