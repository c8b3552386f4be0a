import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { notFound, type Sql } from "../../../platform/db/index.ts";
import { newStamps } from "../../../platform/records/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Operators } from "../operators.ts";
import { type Meter, reservedPrefix, serviceMeters } from "./domain/meter.ts";
import { meterStore } from "./store.ts";

interface Dependencies {
  readonly events: EventRecorder;
  readonly operators: Operators;
  readonly platformTenantId: () => TenantId;
}

export type NewMeter = Pick<Meter, "key" | "name" | "aggregation" | "valuePath" | "groupBy">;

/** The largest number of meters. All of them are read for every report of usage. */
const metersMax = 200;

export type MeterService = ReturnType<typeof createMeterService>;

export function createMeterService({ events, operators, platformTenantId }: Dependencies) {
  /** All meters, those of the service included, by key. */
  async function all(sql: Sql): Promise<Meter[]> {
    const stored = await meterStore(sql).list(platformTenantId());
    return [...serviceMeters, ...stored].sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  async function requireMeter(sql: Sql, key: string): Promise<Meter> {
    const meter = (await all(sql)).find((each) => each.key === key);
    if (meter === undefined) throw notFound("meter");
    return meter;
  }

  return {
    all,
    requireMeter,

    async createMeter(context: Context, input: NewMeter): Promise<Meter> {
      operators.require(context, "create meters");
      if (input.key.startsWith(reservedPrefix)) {
        throw invalid("key", "reserved", `must not start with ${reservedPrefix}, which the service's own meters do`);
      }
      if (input.aggregation === "unique_count" && input.valuePath === "") {
        throw invalid("value_path", "required", "must name the property whose different values are counted");
      }
      const store = meterStore(context.sql);
      if ((await store.list(platformTenantId())).length >= metersMax) {
        throw fail("FAILED_PRECONDITION", { public: `There are ${metersMax} meters already, which is the maximum.` });
      }
      const meter = await store.insert(platformTenantId(), {
        ...input,
        status: "active",
        serviceFed: false,
        ...newStamps(context.nowMs),
      });
      const { key, aggregation } = meter;
      await events.record(context, "billing.meter.created", key, { aggregation }, platformTenantId());
      return meter;
    },

    async archiveMeter(context: Context, key: string): Promise<Meter> {
      operators.require(context, "archive meters");
      const meter = await meterStore(context.sql).archive(platformTenantId(), key, new Date(context.nowMs));
      if (meter !== undefined) {
        await events.record(context, "billing.meter.archived", key, {}, platformTenantId());
        return meter;
      }
      const { serviceFed } = await requireMeter(context.sql, key);
      throw fail("FAILED_PRECONDITION", {
        public: serviceFed ? "A meter of the service cannot be archived." : "The meter is archived.",
      });
    },
  };
}
