import type { Principal, TenantId } from "../../../../platform/access/index.ts";
import { recordRows, type Sql } from "../../../../platform/db/index.ts";
import type { Page, PageRows } from "../../../../platform/paging/index.ts";
import { recordTable } from "../../../../platform/records/index.ts";
import type { PoolId, StoredPool } from "../domain/pool.ts";
import { type NewRecipient, type Recipient, type RecipientId, recipientsMax } from "../domain/recipient.ts";
import { inUsablePools } from "../pool-store.ts";

export interface RecipientFilter {
  /** Undefined selects those of all pools. */
  readonly poolId: PoolId | undefined;
  /** Empty selects all. */
  readonly name: string;
  /** Whose pools are listed when none is named. */
  readonly principal: Pick<Principal, "environmentMode">;
  /** Undefined selects all. "active" excludes ejected recipients. */
  readonly status: Recipient["status"] | "ejected" | undefined;
  readonly now: Date;
}

/** The editable columns of a recipient. */
type EditableRecipient = NewRecipient & Pick<Recipient, "availableSince">;

/** A row of the recipients table, which also holds removed recipients. */
export type RecipientRow = Omit<Recipient, "status"> & { readonly status: Recipient["status"] | "removed" };

/** A pool and its revision after the change. */
type ChangedPool = Pick<StoredPool, "id" | "revision">;

const usesMax = 100;

const recipients = recordTable<Recipient, { readonly poolRevision: number }>("recipients", {
  fixed: "tenant_id id pool_id created_at",
  mutable: `name status weight capacity priority attributes skills cost delivery available_since updated_at record_version`,
  internal: "pool_revision",
  exists: "status <> 'removed'",
});

/**
 * SQL queries for recipients. A removed recipient keeps its row, which only `changedSince` returns. Every write
 * stores the revision of the pool.
 */
export function recipientStore(sql: Sql) {
  const { columns, find, update, set, count, listWhere } = recipients(sql);
  return {
    find,

    /** Inserts recipients in one statement and returns them in the given order. */
    async insert(
      tenantId: TenantId,
      pool: ChangedPool,
      recipients: readonly (NewRecipient & { id: RecipientId })[],
      now: Date,
    ) {
      // Ids ascend in the given order.
      return sql<Recipient[]>`
        with added as (
          insert into recipients (tenant_id, id, pool_id, name, status, weight, capacity, priority, attributes, skills, cost,
            delivery, available_since, pool_revision, created_at, updated_at)
          select ${tenantId}, id, ${pool.id}, name, status, weight, capacity, priority, attributes, skills, cost,
            delivery, ${now}, ${pool.revision}, ${now}, ${now}
          from ${recordRows(sql, "recipients", recipients)}
          returning ${columns}
        )
        select * from added order by id`;
    },

    /** Updates all editable fields. A given version must match the current one. */
    update: (
      { tenantId, id }: Pick<Recipient, "tenantId" | "id">,
      pool: ChangedPool,
      recipient: EditableRecipient,
      expectedVersion: number | undefined,
      now: Date,
    ) => update(tenantId, id, { ...recipient, poolRevision: pool.revision }, expectedVersion, now),

    /** Pauses the active ones of the given recipients, or resumes the paused ones, and returns their ids. */
    async setPaused(tenantId: TenantId, pool: ChangedPool, ids: readonly string[], paused: boolean, now: Date) {
      const [from, to] = paused
        ? ["active", sql`status = 'paused'`]
        : ["paused", sql`status = 'active', available_since = ${now}`];
      const rows = await sql<{ id: RecipientId }[]>`
        update recipients set ${to}, pool_revision = ${pool.revision}, updated_at = ${now},
          record_version = record_version + 1
        where tenant_id = ${tenantId} and pool_id = ${pool.id} and id = any(${ids as string[]}::text[])
          and status = ${from}
        returning id`;
      return rows.map(({ id }) => id);
    },

    remove: (tenantId: TenantId, pool: ChangedPool, id: RecipientId, now: Date) =>
      set(tenantId, id, now, sql`status = 'removed', pool_revision = ${pool.revision}`),

    /** The names of recipients that connector actions of some providers deliver to. */
    async namesByProvider(tenantId: TenantId, providerKeys: readonly string[]): Promise<readonly string[]> {
      const rows = await sql<{ name: string }[]>`
        select name from recipients
        where tenant_id = ${tenantId} and status <> 'removed'
          and split_part(delivery -> 'action' ->> 'key', '.', 1) = any(${providerKeys as string[]}::text[])
        order by id limit ${usesMax}`;
      return rows.map(({ name }) => name);
    },

    count: (tenantId: TenantId, poolId: PoolId) => count(tenantId, sql`pool_id = ${poolId}`),

    /** Lists the recipients of pools, ordered by id. */
    async ofPools(tenantId: TenantId, poolIds: readonly PoolId[]): Promise<Recipient[]> {
      if (poolIds.length === 0) return [];
      return sql<Recipient[]>`
        select ${columns} from recipients
        where tenant_id = ${tenantId} and pool_id = any(${poolIds as PoolId[]}::text[]) and status <> 'removed'
        order by id limit ${poolIds.length * recipientsMax}`;
    },

    /** Lists the recipients that changed after the given revisions, including removed ones. */
    async changedSince(tenantId: TenantId, pools: readonly ChangedPool[]): Promise<RecipientRow[]> {
      if (pools.length === 0) return [];
      return sql<RecipientRow[]>`
        select ${columns} from recipients
        join unnest(${pools.map(({ id }) => id as string)}::text[], ${pools.map(({ revision }) => revision)}::bigint[])
          as known(known_pool_id, known_revision) on pool_id = known_pool_id
        where tenant_id = ${tenantId} and pool_revision > known_revision
        order by id`;
    },

    list(tenantId: TenantId, filter: RecipientFilter, page: Page): Promise<PageRows<Recipient>> {
      const { poolId, name, status, principal, now } = filter;
      const usable = (poolId === undefined && inUsablePools(sql, tenantId, principal)) || sql`true`;
      const ejected = sql`(
        select from recipient_states s where s.tenant_id = recipients.tenant_id and s.pool_id = recipients.pool_id
          and s.recipient_id = recipients.id and s.ejected_until > ${now})`;
      if (status !== "active" && status !== "ejected") {
        return listWhere(tenantId, { poolId, name, status }, page, { where: usable });
      }
      const where = sql`${usable} and ${status === "ejected" ? sql`exists` : sql`not exists`} ${ejected}`;
      return listWhere(tenantId, { poolId, name, status: "active" }, page, { where });
    },
  };
}
