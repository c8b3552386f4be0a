import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import type { Topic, TopicDetails } from "./domain/topic.ts";

export function topicStore(sql: Sql) {
  const columns = sql`tenant_id, id, key, name, description, created_at, updated_at, record_version`;
  return {
    async insert({ tenantId, id, key, name, description, createdAt, updatedAt }: Topic): Promise<Topic> {
      const [row] = await sql<Topic[]>`
        insert into notification_topics (tenant_id, id, key, name, description, created_at, updated_at)
        values (${tenantId}, ${id}, ${key}, ${name}, ${description}, ${createdAt}, ${updatedAt})
        returning ${columns}`;
      return row!;
    },

    async find(tenantId: TenantId, key: string): Promise<Topic | undefined> {
      const [row] = await sql<Topic[]>`
        select ${columns} from notification_topics where tenant_id = ${tenantId} and key = ${key}`;
      return row;
    },

    async findMany(tenantId: TenantId, keys: readonly string[]): Promise<Topic[]> {
      return sql<Topic[]>`
        select ${columns} from notification_topics
        where tenant_id = ${tenantId} and key = any(${keys as string[]}::text[])`;
    },

    /** Locks a topic against deletion until the transaction ends. The lock is shared and allows updates of its details. */
    async lockShared(tenantId: TenantId, key: string): Promise<Topic | undefined> {
      const [row] = await sql<Topic[]>`
        select ${columns} from notification_topics where tenant_id = ${tenantId} and key = ${key} for key share`;
      return row;
    },

    /** Replaces the details; undefined when the expected version is not current. */
    async update(
      tenantId: TenantId,
      key: string,
      { name, description }: TopicDetails,
      expectedVersion: number | undefined,
      now: Date,
    ): Promise<Topic | undefined> {
      const [row] = await sql<Topic[]>`
        update notification_topics set
          name = ${name}, description = ${description}, updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and key = ${key}
          and record_version = coalesce(${expectedVersion ?? null}::int, record_version)
        returning ${columns}`;
      return row;
    },

    /** Deletes a topic after waiting for its locks. */
    async remove(tenantId: TenantId, key: string): Promise<Topic | undefined> {
      const [row] = await sql<Topic[]>`
        delete from notification_topics where tenant_id = ${tenantId} and key = ${key} returning ${columns}`;
      return row;
    },

    async list(tenantId: TenantId, page: Page): Promise<PageRows<Topic>> {
      const where = sql`tenant_id = ${tenantId}`;
      return readKeyset<Topic>(sql, { columns, table: "notification_topics", where, key: "key" }, page);
    },
  };
}
