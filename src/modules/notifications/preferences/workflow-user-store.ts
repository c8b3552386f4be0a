import type { TenantId } from "../../../platform/access/index.ts";
import { insertRowImages, type RowImage, type Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import type { PreferenceSettings } from "./domain/settings.ts";
import type { WorkflowUser } from "./domain/workflow.ts";

export function workflowUserStore(sql: Sql) {
  const columns = sql`tenant_id, workflow_key, user_id, preferences, created_at, updated_at, record_version`;
  return {
    /** Inserts a user; undefined when it already exists. */
    insert: (tenantId: TenantId, workflowKey: string, userId: string, preferences: PreferenceSettings, now: Date) =>
      sql<WorkflowUser[]>`
        insert into notification_workflow_users (tenant_id, workflow_key, user_id, preferences, created_at, updated_at)
        values (${tenantId}, ${workflowKey}, ${userId}, ${sql.json(preferences as never)}, ${now}, ${now})
        on conflict (tenant_id, workflow_key, user_id) do nothing
        returning ${columns}`.first(),

    /** Replaces a user's preferences; undefined when the expected version is not current. */
    update: (
      tenantId: TenantId,
      workflowKey: string,
      userId: string,
      preferences: PreferenceSettings,
      expectedVersion: number | undefined,
      now: Date,
    ) =>
      sql<WorkflowUser[]>`
        update notification_workflow_users set
          preferences = ${sql.json(preferences as never)}, updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and workflow_key = ${workflowKey} and user_id = ${userId}
          and record_version = coalesce(${expectedVersion ?? null}::int, record_version)
        returning ${columns}`.first(),

    find: (tenantId: TenantId, workflowKey: string, userId: string) =>
      sql<WorkflowUser[]>`
        select ${columns} from notification_workflow_users
        where tenant_id = ${tenantId} and workflow_key = ${workflowKey} and user_id = ${userId}`.first(),

    remove: (tenantId: TenantId, workflowKey: string, userId: string) =>
      sql<WorkflowUser[]>`
        delete from notification_workflow_users
        where tenant_id = ${tenantId} and workflow_key = ${workflowKey} and user_id = ${userId}
        returning ${columns}`.first(),

    /** Deletes all users of a workflow. */
    async removeAll(tenantId: TenantId, workflowKey: string): Promise<void> {
      await sql`
        delete from notification_workflow_users where tenant_id = ${tenantId} and workflow_key = ${workflowKey}`;
    },

    /** Replaces the users of a workflow by their images. */
    async replaceRows(tenantId: TenantId, workflowKey: string, images: readonly RowImage[]): Promise<void> {
      await sql`
        delete from notification_workflow_users where tenant_id = ${tenantId} and workflow_key = ${workflowKey}`;
      await insertRowImages(sql, "notification_workflow_users", images);
    },

    async list(tenantId: TenantId, workflowKey: string, page: Page): Promise<PageRows<WorkflowUser>> {
      const where = sql`tenant_id = ${tenantId} and workflow_key = ${workflowKey}`;
      const selection = { columns, table: "notification_workflow_users", where, key: "user_id" };
      return readKeyset<WorkflowUser>(sql, selection, page);
    },
  };
}
