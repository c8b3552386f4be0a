import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import type { Topic, TopicText } from "./domain/topic.ts";

/** The SQL of topics. */
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

    /** Keeps a topic from being deleted until the transaction ends; others may do the same, and change its texts. */
    async hold(tenantId: TenantId, key: string): Promise<Topic | undefined> {
      const [row] = await sql<Topic[]>`
        select ${columns} from notification_topics where tenant_id = ${tenantId} and key = ${key} for key share`;
      return row;
    },

    /** Sets the texts; a version that is given must still be the current one. */
    async update(
      tenantId: TenantId,
      key: string,
      { name, description }: TopicText,
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

    /** Deletes a topic once nobody holds it. */
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
