import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  Meter_Aggregation as AggregationNumber,
  ArchiveMeterResponseSchema,
  CreateMeterResponseSchema,
  GetMeterResponseSchema,
  GetUsageResponseSchema,
  ListMetersResponseSchema,
  type Meter as MeterMessage,
  MeterSchema,
  RecordUsageResponseSchema,
  type MeterService as Rpc,
  Meter_Status as Status,
} from "../../../../gen/service/api/meter_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { invalid } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { pageOf, readPage } from "../../../platform/paging/index.ts";
import { dateOf, nameOf, optionalTime, stampFields } from "../../../platform/records/index.ts";
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
  readonly cursors: Cursors;
  /** The start of a tenant's current billing period; undefined without a subscription. */
  readonly findPeriodStart: (sql: Sql, tenantId: TenantId) => Promise<Date | undefined>;
}

export function meterHandlers(dependencies: Dependencies): Handlers<typeof Rpc> {
  const { meters, usage, collector, operators, cursors, findPeriodStart } = dependencies;
  return {
    async createMeter(context, { key, name, aggregation, valuePath, groupBy }) {
      const input = { key, name, valuePath, groupBy, aggregation: nameOf(aggregations, aggregation)! };
      return create(CreateMeterResponseSchema, { meter: fromMeter(await meters.createMeter(context, input)) });
    },

    async getMeter(context, { meterKey }) {
      return create(GetMeterResponseSchema, { meter: fromMeter(await meters.requireMeter(context.sql, meterKey)) });
    },

    async listMeters(context, request) {
      const all = await meters.all(context.sql);
      const keyOf = ({ key }: Meter) => key;
      const page = await readPage(
        cursors,
        request,
        { tenantId: context.tenantId, operation: context.operation.id },
        keyOf,
        async (wanted) => pageOf(all, keyOf, wanted),
      );
      return create(ListMetersResponseSchema, { ...page, meters: page.items.map(fromMeter) });
    },

    async archiveMeter(context, { meterKey }) {
      return create(ArchiveMeterResponseSchema, { meter: fromMeter(await meters.archiveMeter(context, meterKey)) });
    },

    async recordUsage(context, { tenantId, events }) {
      const reports = events.map(({ meterKey, transactionId, quantity, properties, at }) => ({
        ...{ meterKey, transactionId, quantity, properties },
        at: at && dateOf(at),
      }));
      const { recorded, duplicates, rejected } = await usage.recordUsage(context, tenantId, reports);
      return create(RecordUsageResponseSchema, {
        recorded,
        duplicates,
        rejected: rejected.map(({ record: { meterKey, transactionId }, reason }) => ({
          meterKey,
          transactionId,
          reason,
        })),
      });
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
      return create(GetUsageResponseSchema, {
        since: timestampFromDate(range.from),
        until: timestampFromDate(range.until),
        watermark: optionalTime((await collector.watermark(sql))?.countedUntil),
        usage: found.map(fromUsage),
      });
    },
  };
}

const aggregations = {
  sum: AggregationNumber.SUM,
  count: AggregationNumber.COUNT,
  max: AggregationNumber.MAX,
  last: AggregationNumber.LAST,
  unique_count: AggregationNumber.UNIQUE_COUNT,
} as const;
const statuses = { active: Status.ACTIVE, archived: Status.ARCHIVED } as const;

function fromMeter(meter: Meter): MeterMessage {
  return create(MeterSchema, {
    key: meter.key,
    name: meter.name,
    aggregation: aggregations[meter.aggregation],
    valuePath: meter.valuePath,
    groupBy: [...meter.groupBy],
    serviceFed: meter.serviceFed,
    status: statuses[meter.status],
    ...stampFields(meter),
  });
}

function fromUsage({ meter, quantity, events, groups }: MeterUsage) {
  return {
    meterKey: meter.key,
    quantity,
    events,
    groups: groups.map((group) => ({ properties: group.dimensions, quantity: group.quantity })),
  };
}
