import type { TenantId } from "../../platform/access/index.ts";
import type { Sql } from "../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../platform/paging/index.ts";
import type { PoolId } from "./domain/pool.ts";
import { type NewRecipient, type Recipient, type RecipientId, recipientsMax } from "./domain/recipient.ts";

/** Which recipients of a pool a list shows. */
export interface RecipientFilter {
  readonly poolId: PoolId;
  /** All when undefined; whoever is ejected is not active meanwhile. */
  readonly status: Recipient["status"] | "ejected" | undefined;
  readonly now: Date;
}

/** What of a recipient is written. */
type Written = NewRecipient & Pick<Recipient, "availableSince">;

/** The SQL of recipients. A removed one keeps its row, and is never found again. */
export function recipientStore(sql: Sql) {
  const columns = sql`
    tenant_id, id, pool_id, name, status, weight, capacity, priority, attributes, skills, cost, delivery, available_since,
    created_at, updated_at, record_version`;
  return {
    /** Adds recipients in one statement; answers with them in the order given. */
    async insert(
      tenantId: TenantId,
      poolId: PoolId,
      recipients: readonly (NewRecipient & { id: RecipientId })[],
      now: Date,
    ) {
      // Ids rise in the order given.
      return sql<Recipient[]>`
        with added as (
          insert into recipients (tenant_id, id, pool_id, name, status, weight, capacity, priority, attributes, skills, cost,
            delivery, available_since, created_at, updated_at)
          select ${tenantId}, id, ${poolId}, name, status, weight, capacity, priority, attributes, skills, cost,
            delivery, ${now}, ${now}, ${now}
          from jsonb_to_recordset(${sql.json(recipients as never)}) as input(id text, name text, status text, weight int,
            capacity int, priority int, attributes jsonb, skills jsonb, cost double precision, delivery jsonb)
          returning ${columns}
        )
        select * from added order by id`;
    },

    async find(tenantId: TenantId, id: string): Promise<Recipient | undefined> {
      const [row] = await sql<Recipient[]>`
        select ${columns} from recipients where tenant_id = ${tenantId} and id = ${id} and status <> 'removed'`;
      return row;
    },

    /** Writes all that an owner may change; a version that is given must still be the current one. */
    async update(
      { tenantId, id }: Pick<Recipient, "tenantId" | "id">,
      recipient: Written,
      expectedVersion: number | undefined,
      now: Date,
    ): Promise<Recipient | undefined> {
      const [row] = await sql<Recipient[]>`
        update recipients set
          name = ${recipient.name}, status = ${recipient.status}, weight = ${recipient.weight},
          capacity = ${recipient.capacity}, priority = ${recipient.priority}, cost = ${recipient.cost},
          attributes = ${sql.json(recipient.attributes as never)}, skills = ${sql.json(recipient.skills)},
          delivery = ${sql.json(recipient.delivery)}, available_since = ${recipient.availableSince},
          updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id} and status <> 'removed'
          and record_version = coalesce(${expectedVersion ?? null}::int, record_version)
        returning ${columns}`;
      return row;
    },

    /** Pauses those of a pool's recipients that are active; answers with their ids. */
    async pauseActive(
      tenantId: TenantId,
      poolId: PoolId,
      ids: readonly string[],
      now: Date,
    ): Promise<readonly RecipientId[]> {
      const rows = await sql<{ id: RecipientId }[]>`
        update recipients set status = 'paused', updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and pool_id = ${poolId} and id = any(${ids as string[]}::text[])
          and status = 'active'
        returning id`;
      return rows.map(({ id }) => id);
    },

    async remove(tenantId: TenantId, id: RecipientId, now: Date): Promise<Recipient | undefined> {
      const [row] = await sql<Recipient[]>`
        update recipients set status = 'removed', updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id} and status <> 'removed'
        returning ${columns}`;
      return row;
    },

    async count(tenantId: TenantId, poolId: PoolId): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from recipients
        where tenant_id = ${tenantId} and pool_id = ${poolId} and status <> 'removed'`;
      return row!.count;
    },

    /** All recipients of pools, in the order of their ids. */
    async ofPools(tenantId: TenantId, poolIds: readonly PoolId[]): Promise<Recipient[]> {
      return sql<Recipient[]>`
        select ${columns} from recipients
        where tenant_id = ${tenantId} and pool_id = any(${poolIds as PoolId[]}::text[]) and status <> 'removed'
        order by id limit ${poolIds.length * recipientsMax}`;
    },

    /** The versions of all recipients of pools, in the order of their ids. */
    async versionsOfPools(
      tenantId: TenantId,
      poolIds: readonly PoolId[],
    ): Promise<Pick<Recipient, "id" | "recordVersion">[]> {
      return sql<Pick<Recipient, "id" | "recordVersion">[]>`
        select id, record_version from recipients
        where tenant_id = ${tenantId} and pool_id = any(${poolIds as PoolId[]}::text[]) and status <> 'removed'
        order by id limit ${poolIds.length * recipientsMax}`;
    },

    async findMany(tenantId: TenantId, ids: readonly RecipientId[]): Promise<Recipient[]> {
      if (ids.length === 0) return [];
      return sql<Recipient[]>`
        select ${columns} from recipients
        where tenant_id = ${tenantId} and id = any(${ids as RecipientId[]}::text[]) and status <> 'removed'`;
    },

    async list(tenantId: TenantId, { poolId, status, now }: RecipientFilter, page: Page): Promise<PageRows<Recipient>> {
      const ejected = sql`(
        select from recipient_states s where s.tenant_id = recipients.tenant_id and s.pool_id = recipients.pool_id
          and s.recipient_id = recipients.id and s.ejected_until > ${now})`;
      const standing =
        status === "ejected"
          ? sql`and status = 'active' and exists ${ejected}`
          : status === "active"
            ? sql`and status = 'active' and not exists ${ejected}`
            : status === undefined
              ? sql``
              : sql`and status = ${status}`;
      const where = sql`tenant_id = ${tenantId} and pool_id = ${poolId} and status <> 'removed' ${standing}`;
      return readKeyset<Recipient>(sql, { columns, table: "recipients", where }, page);
    },
  };
}
