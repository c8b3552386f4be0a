import {
  Meter_Aggregation as AggregationNumber,
  type MeterService as Rpc,
  Meter_Status as Status,
} from "../../../../gen/service/api/meter_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { invalid } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { pageOf } from "../../../platform/paging/index.ts";
import { dateOf, enumNumbers, nameOf } from "../../../platform/records/index.ts";
import type { Operators } from "../operators.ts";
import type { Collector } from "./collection/collector.ts";
import type { Meter } from "./domain/meter.ts";
import type { MeterService } from "./meter-service.ts";
import type { MeterUsage, UsageService } from "./usage-service.ts";

interface Dependencies {
  readonly meters: MeterService;
  readonly usage: UsageService;
  readonly collector: Collector;
  readonly operators: Operators;
  /** The start of a tenant's current billing period; undefined without a subscription. */
  readonly findPeriodStart: (sql: Sql, tenantId: TenantId) => Promise<Date | undefined>;
}

export function meterHandlers(dependencies: Dependencies): Handlers<typeof Rpc> {
  const { meters, usage, collector, operators, findPeriodStart } = dependencies;
  return {
    async createMeter(context, { key, name, aggregation, valuePath, groupBy }) {
      const input = { key, name, valuePath, groupBy, aggregation: nameOf(aggregations, aggregation)! };
      return { meter: fromMeter(await meters.createMeter(context, input)) };
    },

    getMeter: async ({ sql }, { meterKey }) => ({ meter: fromMeter(await meters.requireMeter(sql, meterKey)) }),

    async listMeters(context, request) {
      const all = await meters.all(context.sql);
      const keyOf = ({ key }: Meter) => key;
      const page = await context.page("meters", request, [], async (wanted) => pageOf(all, keyOf, wanted), keyOf);
      return { ...page, meters: page.meters.map(fromMeter) };
    },

    archiveMeter: async (context, { meterKey }) => ({ meter: fromMeter(await meters.archiveMeter(context, meterKey)) }),

    async recordUsage(context, { tenantId, events }) {
      const reports = events.map(({ meterKey, transactionId, quantity, properties, at }) => ({
        ...{ meterKey, transactionId, quantity, properties },
        at: at && dateOf(at),
      }));
      const { rejected, ...counts } = await usage.recordUsage(context, tenantId, reports);
      return { ...counts, rejected: rejected.map(({ record, reason }) => ({ ...record, reason })) };
    },

    async getUsage(context, { tenantId, meterKey, since, until }) {
      const { sql, nowMs } = context;
      const id = await operators.requireTenant(context, tenantId);
      const now = new Date(nowMs);
      const from =
        since === undefined
          ? ((await findPeriodStart(sql, id)) ?? new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())))
          : dateOf(since);
      const range = { from, until: until === undefined ? now : dateOf(until) };
      if (range.until < range.from) throw invalid("until", "range", "must not be before since");
      const found = await usage.getUsage(sql, id, meterKey, range);
      return {
        since: range.from,
        until: range.until,
        watermark: (await collector.watermark(sql))?.countedUntil,
        usage: found.map(fromUsage),
      };
    },
  };
}

const aggregations = enumNumbers(AggregationNumber);
const statuses = enumNumbers(Status);

const fromMeter = (meter: Meter) => ({
  ...meter,
  aggregation: aggregations[meter.aggregation],
  status: statuses[meter.status],
});

const fromUsage = ({ meter, groups, ...usage }: MeterUsage) => ({
  ...usage,
  meterKey: meter.key,
  groups: groups.map(({ dimensions, quantity }) => ({ properties: dimensions, quantity })),
});
