import { createHash } from "node:crypto";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import type { SubscriberId } from "../subscribers/index.ts";
import { type OwnRow, type Preference, type RowKeys, rowsMax } from "./domain/layers.ts";
import type { PreferenceSettings } from "./domain/settings.ts";

/** A row of layer 2 to 5 that a decision may need. */
type LayerRow = (OwnRow & { readonly subscriberId: string }) | { readonly layer: 2; settings: PreferenceSettings };

/** Filter of the rows that decisions may need. */
export interface LayerFilter {
  readonly workflowKey: string;
  /** Empty for none. */
  readonly userId: string;
  /** Undefined when it is not known yet; empty for none. */
  readonly topicKey?: string | undefined;
}

export function preferenceStore(sql: Sql) {
  const columns = sql`
    tenant_id, subscriber_id, id, layer, workflow_key, topic_key, context_keys, preferences as settings,
    created_at, updated_at, record_version`;
  return {
    /** Inserts or updates a row; undefined when it is new and the subscriber has reached the limit. */
    upsert(
      tenantId: TenantId,
      subscriberId: SubscriberId,
      id: string,
      { layer, workflowKey, topicKey, contextKeys }: RowKeys,
      settings: PreferenceSettings,
      now: Date,
    ): Promise<Preference | undefined> {
      const digest = digestOf(contextKeys);
      const own = sql`tenant_id = ${tenantId} and subscriber_id = ${subscriberId}`;
      return sql<Preference[]>`
        insert into notification_preferences (tenant_id, subscriber_id, id, layer, workflow_key, topic_key, context_keys,
          context_digest, preferences, created_at, updated_at)
        select ${tenantId}, ${subscriberId}, ${id}, ${layer}::smallint, ${workflowKey}, ${topicKey},
          ${contextKeys as string[]}::text[], ${digest}, ${sql.json(settings as never)}, ${now}, ${now}
        where (select count(*) from notification_preferences where ${own}) < ${rowsMax}
          or exists (select from notification_preferences where ${own} and layer = ${layer}
            and workflow_key = ${workflowKey} and topic_key = ${topicKey} and context_digest = ${digest})
        on conflict (tenant_id, subscriber_id, layer, workflow_key, topic_key, context_digest) do update set
          preferences = excluded.preferences, updated_at = excluded.updated_at,
          record_version = notification_preferences.record_version + 1
        returning ${columns}`.first();
    },

    async list(tenantId: TenantId, subscriberId: SubscriberId, page: Page): Promise<PageRows<Preference>> {
      const where = sql`tenant_id = ${tenantId} and subscriber_id = ${subscriberId}`;
      return readKeyset<Preference>(sql, { columns, table: "notification_preferences", where }, page);
    },

    /** The rows of layers 2 to 5 for a workflow and many subscribers. */
    async layers(tenantId: TenantId, { workflowKey, userId, topicKey }: LayerFilter, subscriberIds: readonly string[]) {
      return sql<LayerRow[]>`
        select 2 as layer, '' as subscriber_id, workflow_key, '' as topic_key, '{}'::text[] as context_keys,
          preferences as settings
        from notification_workflow_users
        where ${userId !== ""} and tenant_id = ${tenantId} and workflow_key = ${workflowKey} and user_id = ${userId}
        union all
        select layer, subscriber_id, workflow_key, topic_key, context_keys, preferences
        from notification_preferences
        where tenant_id = ${tenantId} and subscriber_id = any(${subscriberIds as string[]}::text[])
          and workflow_key in ('', ${workflowKey})
          ${topicKey === undefined ? sql`` : sql`and topic_key in ('', ${topicKey})`}
        limit ${subscriberIds.length * rowsMax + 1}`;
    },
  };
}

/** Digest of normalized context keys; empty for none. */
function digestOf(contextKeys: readonly string[]): string {
  return contextKeys.length === 0 ? "" : createHash("sha256").update(JSON.stringify(contextKeys)).digest("base64url");
}
