import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import type { Topic } from "./domain/topic.ts";

const topics = recordTable<Topic>("notification_topics", {
  key: "key",
  fixed: "tenant_id id key created_at",
  mutable: "name description updated_at record_version",
});

export function topicStore(sql: Sql) {
  const { columns, insert, find, update, remove, list } = topics(sql);
  return {
    insert,
    find,
    update,
    /** Deletes a topic after waiting for its locks. */
    remove,
    list,

    async findMany(tenantId: TenantId, keys: readonly string[]): Promise<Topic[]> {
      return sql<Topic[]>`
        select ${columns} from notification_topics
        where tenant_id = ${tenantId} and key = any(${keys as string[]}::text[])`;
    },

    /** Locks a topic against deletion until the transaction ends. The lock is shared and allows updates of its details. */
    lockShared: (tenantId: TenantId, key: string) =>
      sql<Topic[]>`
        select ${columns} from notification_topics where tenant_id = ${tenantId} and key = ${key} for key share`.first(),
  };
}
