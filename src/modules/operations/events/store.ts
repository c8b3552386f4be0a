import type { EnvironmentMode, TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { IdempotencyRecord } from "../../../platform/idempotency/index.ts";
import { lowestUlid } from "../../../platform/ids/ulid.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import type { Event, EventFilter, EventHead, NewEvent, Position } from "./domain/event.ts";
import { placeOf } from "./domain/event-place.ts";

/** An event to be added, with the idempotency record that is to be kept with it. */
export interface Addition {
  readonly event: NewEvent;
  readonly record: IdempotencyRecord | undefined;
}

/** A list's filter. */
export interface ListFilter extends EventFilter {
  readonly since: Date | undefined;
  readonly until: Date | undefined;
}

/** A range of time, and the event in it after which to go on. */
export interface RecordedRange {
  readonly since: Date;
  readonly until: Date;
  readonly after: string;
}

/** The SQL of events. */
export function eventStore(sql: Sql) {
  const columns = sql`tenant_id, id, type, source, subject, time, data, environment_id, in_production`;
  const visibleTo = (mode: EnvironmentMode) =>
    ({
      any: sql``,
      production_only: sql`and in_production is not false`,
      non_production_only: sql`and in_production is not true`,
    })[mode];
  return {
    async insert(event: NewEvent): Promise<void> {
      await this.insertMany([{ event, record: undefined }]);
    },

    /**
     * Adds many events in one statement, each together with its idempotency record; answers with the ids of those
     * that were added. The others' keys were recorded before. Keys come sorted, so that nodes never wait in a ring.
     */
    async insertMany(additions: readonly Addition[]): Promise<ReadonlySet<string>> {
      const events = additions.map(({ event }) => event);
      const records = additions.map(({ record }) => record);
      const places = events.map(placeOf);
      const placed = places.some((place) => place !== undefined);
      const rows = await sql<{ id: string }[]>`
        with input as (
          select * from unnest(
            ${events.map((event) => event.tenantId)}::text[], ${events.map((event) => event.id)}::text[],
            ${events.map((event) => event.type)}::text[], ${events.map((event) => event.source)}::text[],
            ${events.map((event) => event.subject)}::text[], ${events.map((event) => event.time.toISOString())}::timestamptz[],
            ${events.map((event) => JSON.stringify(event.data))}::text[],
            ${records.map((record) => record?.principal ?? null)}::text[], ${records.map((record) => record?.operation ?? null)}::text[],
            ${records.map((record) => record?.key ?? null)}::text[],
            ${records.map((record) => record?.fingerprint.toString("hex") ?? null)}::text[],
            ${records.map((record) => record?.response ?? null)}::text[],
            ${records.map((record) => record?.createdAt.toISOString() ?? null)}::timestamptz[],
            ${places.map((place) => place?.environmentId ?? null)}::text[], ${places.map((place) => place?.poolId ?? null)}::text[]
          ) as input(tenant_id, id, type, source, subject, time, data, principal, operation, key, fingerprint, response,
            claimed_at, environment_id, pool_id)
        ), claimed as (
          insert into idempotency_records (tenant_id, principal, operation, key, fingerprint, state, response, created_at)
          select tenant_id, principal, operation, key, decode(fingerprint, 'hex'), 'completed', response, claimed_at
          from input where key is not null
          on conflict do nothing
          returning tenant_id, principal, operation, key
        )
        insert into events (tenant_id, id, type, source, subject, time, data ${placed ? sql`, environment_id, in_production` : sql``})
        select tenant_id, input.id, type, source, subject, time, data::jsonb ${placed ? sql`, place.id, place.key = 'production'` : sql``}
        from input
        ${
          placed
            ? sql`left join lateral (
                select e.id, e.key from environments e
                where e.tenant_id = input.tenant_id and e.id = coalesce(input.environment_id,
                  (select p.environment_id from pools p where p.tenant_id = input.tenant_id and p.id = input.pool_id))
                limit 1
              ) place on true`
            : sql``
        }
        where input.key is null or (tenant_id, principal, operation, input.key) in (select * from claimed)
        returning id`;
      return new Set(rows.map((row) => row.id));
    },

    /** Reads many events in one statement; those that are not there are left out. */
    async findMany(wanted: readonly { tenantId: TenantId; id: string }[]): Promise<Event[]> {
      return sql<Event[]>`
        select ${columns} from events where (tenant_id, id) in (
          select * from unnest(${wanted.map((each) => each.tenantId)}::text[], ${wanted.map((each) => each.id)}::text[]))`;
    },

    async list(tenantId: TenantId, filter: ListFilter, page: Page): Promise<PageRows<Event>> {
      const { types, subject, since, until, environmentMode } = filter;
      const patterns = types.map((type) =>
        type.endsWith(".*") ? `${type.slice(0, -1).replaceAll("_", "\\_")}%` : type.replaceAll("_", "\\_"),
      );
      const where = sql`tenant_id = ${tenantId} ${subject === "" ? sql`` : sql`and subject = ${subject}`}`;
      const conditions = sql`true
        ${types.length === 0 ? sql`` : sql`and type like any(${patterns})`}
        ${since === undefined ? sql`` : sql`and time >= ${since}`}
        ${until === undefined ? sql`` : sql`and time < ${until}`}
        ${visibleTo(environmentMode)}`;
      const isFiltered = types.length > 0 || since !== undefined || until !== undefined || environmentMode !== "any";
      const selection = { columns, table: "events", where, filter: isFiltered ? conditions : undefined };
      return readKeyset<Event>(sql, { ...selection, newestFirst: true }, page);
    },

    /** Where an event stands in the log; undefined for one that the tenant has not got, or that must not be seen. */
    async positionOf(tenantId: TenantId, id: string, mode: EnvironmentMode): Promise<Position | undefined> {
      const [row] = await sql<Position[]>`
        select xid::text, id from events where tenant_id = ${tenantId} and id = ${id} ${visibleTo(mode)}`;
      return row;
    },

    /** The end of the log: whatever is committed from now on comes after it. */
    async endPosition(): Promise<Position> {
      const [row] = await sql<{ xid: string; snapshot: string }[]>`
        select pg_snapshot_xmin(snapshot)::text as xid, snapshot::text from pg_current_snapshot() as snapshot`;
      return { xid: row!.xid, id: "", snapshot: row!.snapshot };
    },

    /** What comes after a position, in order, up to the oldest transaction that still runs. */
    async after(
      tenantId: TenantId,
      { xid, id, snapshot }: Position,
      limit: number,
    ): Promise<(Event & { xid: string })[]> {
      return sql<(Event & { xid: string })[]>`
        select ${columns}, xid::text from events
        where tenant_id = ${tenantId} and (xid, id) > (${xid}::text::xid8, ${id})
          and xid < pg_snapshot_xmin(pg_current_snapshot())
          ${snapshot === undefined ? sql`` : sql`and not pg_visible_in_snapshot(xid, ${snapshot}::pg_snapshot)`}
        order by events.xid, id limit ${limit}`;
    },

    /** The heads of what comes after a position, as `after` reads it. */
    async headsAfter(tenantId: TenantId, { xid, id }: Position, limit: number): Promise<EventHead[]> {
      return sql<EventHead[]>`
        select id, type, subject, in_production, xid::text from events
        where tenant_id = ${tenantId} and (xid, id) > (${xid}::text::xid8, ${id})
          and xid < pg_snapshot_xmin(pg_current_snapshot())
        order by events.xid, id limit ${limit}`;
    },

    /** The heads of what was recorded in a range of time, in the order of ids, which begin with that time. */
    async headsBetween(tenantId: TenantId, range: RecordedRange, limit: number): Promise<EventHead[]> {
      return sql<EventHead[]>`
        select id, type, subject, in_production, xid::text from events
        where tenant_id = ${tenantId} and id > ${range.after} and id >= ${lowestUlid(range.since.getTime())}
          and id < ${lowestUlid(range.until.getTime())}
        order by id limit ${limit}`;
    },

    /** Of these places in their tenants' logs, those that something comes after. */
    async behind(places: readonly (Position & { tenantId: TenantId })[]): Promise<TenantId[]> {
      const rows = await sql<{ tenantId: TenantId }[]>`
        select place.tenant_id
        from unnest(${places.map((each) => each.tenantId)}::text[], ${places.map((each) => each.xid)}::text[],
          ${places.map((each) => each.id)}::text[]) as place(tenant_id, xid, id)
        where exists (
          select from events where tenant_id = place.tenant_id and (xid, events.id) > (place.xid::xid8, place.id)
            and xid < pg_snapshot_xmin(pg_current_snapshot()))`;
      return rows.map((row) => row.tenantId);
    },

    /** Forgets events that were kept before a moment, whatever time they name, a bite at a time; answers how many. */
    async forget(tenantId: TenantId, before: Date, limit: number): Promise<number> {
      const gone = await sql`
        delete from events where ctid = any(array(
          select ctid from events where tenant_id = ${tenantId} and id < ${lowestUlid(before.getTime())} limit ${limit}))`;
      return gone.count;
    },
  };
}
