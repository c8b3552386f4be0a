import type { EnvironmentMode, TenantId } from "../../../platform/access/index.ts";
import { deleteBatch, lines, type Sql } from "../../../platform/db/index.ts";
import { claimBatch, type IdempotencyRecord } from "../../../platform/idempotency/index.ts";
import { lowestUlid } from "../../../platform/ids/ulid.ts";
import type { TenantCutoff } from "../../../platform/jobs/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import type { Event, EventFilter, EventHead, NewEvent, Position } from "./domain/event.ts";
import { scopeOf } from "./domain/event-scope.ts";

/** A new event with the idempotency record to store with it. */
export interface Addition {
  readonly event: NewEvent;
  readonly record: IdempotencyRecord | undefined;
}

export interface ListFilter extends EventFilter {
  readonly since: Date | undefined;
  readonly until: Date | undefined;
  /** Empty for all environments. */
  readonly environmentId: string;
}

/** A time range, and the id of the event to continue after. */
export interface RecordedRange {
  readonly since: Date;
  readonly until: Date;
  readonly after: string;
}

export function eventStore(sql: Sql) {
  const columns = sql`tenant_id, id, type, source, subject, actor, time, data, environment_id, in_production`;
  const visibleTo = (mode: EnvironmentMode) =>
    ({
      any: sql``,
      production_only: sql`and in_production is not false`,
      non_production_only: sql`and in_production is not true`,
    })[mode];
  const insertion = (additions: readonly Addition[]) => {
    const events = additions.map(({ event }) => event);
    const records = additions.flatMap(({ record }, batchIndex) => (record === undefined ? [] : { batchIndex, record }));
    const isKeyed = records.length > 0;
    const scopes = events.map(scopeOf);
    const isScoped = scopes.some((scope) => scope !== undefined);
    const hasActors = events.some(({ actor }) => actor !== undefined);
    return sql<{ id: string }[]>`
      with ${isKeyed ? sql`${claimBatch(sql, records)},` : sql``} input as (
        select * from rows from (
          string_to_table(${lines(events, ({ tenantId }) => tenantId)}, E'\\n'),
          string_to_table(${lines(events, ({ id }) => id)}, E'\\n'),
          unnest(${events.map(({ type }) => type)}::text[]), unnest(${events.map(({ source }) => source)}::text[]),
          unnest(${events.map(({ subject }) => subject)}::text[]),
          string_to_table(${lines(events, ({ time }) => time.toISOString())}, E'\\n'),
          string_to_table(${lines(events, ({ data }) => JSON.stringify(data))}, E'\\n')
          ${
            isScoped
              ? sql`, unnest(${scopes.map((scope) => scope?.environmentId ?? null)}::text[]),
                unnest(${scopes.map((scope) => scope?.poolId ?? null)}::text[])`
              : sql``
          }
          ${hasActors ? sql`, unnest(${events.map(({ actor }) => actor ?? "")}::text[])` : sql``}
        ) with ordinality
          as input(tenant_id, id, type, source, subject, time, data ${isScoped ? sql`, environment_id, pool_id` : sql``}
            ${hasActors ? sql`, actor` : sql``}, nth)
      )
      insert into events (tenant_id, id, type, source, subject, time, data
        ${isScoped ? sql`, environment_id, in_production` : sql``} ${hasActors ? sql`, actor` : sql``})
      select tenant_id, input.id, type, source, subject, time::timestamptz, data::jsonb
        ${isScoped ? sql`, scope.id, scope.key = 'production'` : sql``} ${hasActors ? sql`, actor` : sql``}
      from input
      ${
        isScoped
          ? sql`left join lateral (
              select e.id, e.key from environments e
              where e.tenant_id = input.tenant_id and e.id = coalesce(input.environment_id,
                (select p.environment_id from pools p where p.tenant_id = input.tenant_id and p.id = input.pool_id))
              limit 1
            ) scope on true`
          : sql``
      }
      ${isKeyed ? sql`where nth not in (select batch_index + 1 from refused)` : sql``}
      returning id`;
  };
  return {
    /**
     * Adds events in one statement, each together with its idempotency record. Returns the ids of the added events; the
     * idempotency keys of the others exist already, or belong to an earlier event of the batch.
     */
    async insertMany(additions: readonly Addition[]): Promise<ReadonlySet<string>> {
      return new Set((await insertion(additions)).map((row) => row.id));
    },

    /** Adds events in a transaction, which does not wait for them. */
    send: (events: readonly NewEvent[]) => sql.send(insertion(events.map((event) => ({ event, record: undefined })))),

    /** Reads events in one statement; omits those that do not exist. */
    async findMany(ids: readonly { tenantId: TenantId; id: string }[]): Promise<Event[]> {
      return sql<Event[]>`
        select e.* from unnest(${ids.map((each) => each.tenantId)}::text[], ${ids.map((each) => each.id)}::text[])
          as wanted(tenant_id, id)
        cross join lateral (
          select ${columns} from events e where e.tenant_id = wanted.tenant_id and e.id = wanted.id limit 1) e`;
    },

    async list(tenantId: TenantId, filter: ListFilter, page: Page): Promise<PageRows<Event>> {
      const { types, subject, since, until, environmentMode, environmentId } = filter;
      const patterns = types.map((type) =>
        type.endsWith(".*") ? `${type.slice(0, -1).replaceAll("_", "\\_")}%` : type.replaceAll("_", "\\_"),
      );
      const where = sql`tenant_id = ${tenantId} ${subject === "" ? sql`` : sql`and subject = ${subject}`}`;
      const conditions = sql`true
        ${types.length === 0 ? sql`` : sql`and type like any(${patterns})`}
        ${since === undefined ? sql`` : sql`and time >= ${since}`}
        ${until === undefined ? sql`` : sql`and time < ${until}`}
        ${environmentId === "" ? sql`` : sql`and environment_id = ${environmentId}`}
        ${visibleTo(environmentMode)}`;
      const isTimed = since !== undefined || until !== undefined;
      const isFiltered = types.length > 0 || isTimed || environmentId !== "" || environmentMode !== "any";
      const selection = { columns, table: "events", where, filter: isFiltered ? conditions : undefined };
      return readKeyset<Event>(sql, { ...selection, newestFirst: true }, page);
    },

    /** An event's position in the log; undefined if the tenant does not have it or the caller may not see it. */
    positionOf: (tenantId: TenantId, id: string, mode: EnvironmentMode) =>
      sql<Position[]>`
        select stamp::text, id from events where tenant_id = ${tenantId} and id = ${id} ${visibleTo(mode)}`.first(),

    /**
     * The end of the log: everything committed from now on comes after it. It is at most the newest event, because PostgreSQL
     * reuses later transaction ids when it crashes before their transactions write anything.
     */
    async endPosition(tenantId: TenantId): Promise<Position> {
      const [row] = await sql<{ stamp: string; snapshot: string }[]>`
        select least(stamp_horizon(), newest + 1)::text as stamp, stamp_snapshot(newest) as snapshot
        from (select coalesce(max(stamp), 0) as newest from events where tenant_id = ${tenantId}) log`;
      return { stamp: row!.stamp, id: "", snapshot: row!.snapshot };
    },

    /** The events after a position, in order, up to the oldest running transaction. */
    async after(
      tenantId: TenantId,
      { stamp, id, snapshot }: Position,
      limit: number,
    ): Promise<(Event & { stamp: string })[]> {
      return sql<(Event & { stamp: string })[]>`
        select ${columns}, stamp::text from events
        where tenant_id = ${tenantId} and (stamp, id) > (${stamp}::text::bigint, ${id})
          and stamp < stamp_horizon()
          ${snapshot === undefined ? sql`` : sql`and not txid_visible_in_snapshot(stamp, ${snapshot}::txid_snapshot)`}
        order by events.stamp, id limit ${limit}`;
    },

    /** The heads of the events after a position, in the order of `after`. */
    async headsAfter(tenantId: TenantId, { stamp, id }: Position, limit: number): Promise<EventHead[]> {
      return sql<EventHead[]>`
        select id, type, subject, in_production, stamp::text from events
        where tenant_id = ${tenantId} and (stamp, id) > (${stamp}::text::bigint, ${id})
          and stamp < stamp_horizon()
        order by events.stamp, id limit ${limit}`;
    },

    /** The heads of the events recorded in a time range, ordered by id. An id starts with the time of recording. */
    async headsBetween(tenantId: TenantId, range: RecordedRange, limit: number): Promise<EventHead[]> {
      return sql<EventHead[]>`
        select id, type, subject, in_production, stamp::text from events
        where tenant_id = ${tenantId} and id > ${range.after} and id >= ${lowestUlid(range.since.getTime())}
          and id < ${lowestUlid(range.until.getTime())}
        order by id limit ${limit}`;
    },

    /** The tenants whose log has events after the given position. */
    async findTenantsBehind(positions: readonly (Position & { tenantId: TenantId })[]): Promise<TenantId[]> {
      if (positions.length === 0) return [];
      const rows = await sql<{ tenantId: TenantId }[]>`
        select last_read.tenant_id
        from unnest(${positions.map((each) => each.tenantId)}::text[], ${positions.map((each) => each.stamp)}::text[],
          ${positions.map((each) => each.id)}::text[]) as last_read(tenant_id, stamp, id)
        where exists (
          select from events where tenant_id = last_read.tenant_id and (stamp, events.id) > (last_read.stamp::bigint, last_read.id)
            and stamp < stamp_horizon())`;
      return rows.map((row) => row.tenantId);
    },

    /** When each tenant's events expire: by the tenant's own setting, else by the instance's. */
    async retentionCutoffs(
      now: Date,
      { retentionDays, tenantSettingsEnabled }: { retentionDays: number; tenantSettingsEnabled: boolean },
    ): Promise<TenantCutoff[]> {
      const tenants = await sql<{ id: TenantId; days: number }[]>`
        select id, coalesce((value #>> '{}')::int, ${retentionDays}) as days
        from tenants left join config_values on tenant_id = id and key = 'events.retention_days' and ${tenantSettingsEnabled}`;
      return tenants.map(({ id, days }) => ({ tenantId: id, before: new Date(now.getTime() - days * 86_400_000) }));
    },

    /** Deletes up to `limit` events recorded before a time, regardless of their `time` attribute; returns the count. */
    deleteExpired({ tenantId, before }: TenantCutoff, limit: number): Promise<number> {
      const where = sql`tenant_id = ${tenantId} and id < ${lowestUlid(before.getTime())}`;
      return deleteBatch(sql, { table: "events", where }, limit);
    },
  };
}
