import type { TenantId } from "../../../platform/access/index.ts";
import { insertRowImages, type RowImage, type Sql } from "../../../platform/db/index.ts";
import type { Page, PageRows } from "../../../platform/paging/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import type { NotificationWorkflow, WorkflowContent } from "./domain/workflow.ts";

type Row = Omit<NotificationWorkflow, "preferences"> & { readonly preferences: WorkflowContent["preferences"] | null };

const workflows = recordTable<Row>("notification_workflows", {
  key: "workflow_key",
  fixed: "tenant_id workflow_key created_at",
  mutable: "name description channels preferences steps updated_at record_version",
});

export function workflowStore(sql: Sql) {
  const records = workflows(sql);
  const one = (row: Row | undefined) => row && toWorkflow(row);
  return {
    /** Inserts a workflow; undefined when its key is already used. */
    insert: async (tenantId: TenantId, workflowKey: string, content: WorkflowContent, now: Date) =>
      one(
        await records.insertUnlessTaken({
          ...{ ...toRow(content), tenantId, workflowKey },
          ...{ createdAt: now, updatedAt: now, recordVersion: 1 },
        }),
      ),

    /** Replaces a workflow's content; undefined when the expected version is not current. */
    update: async (
      tenantId: TenantId,
      workflowKey: string,
      content: WorkflowContent,
      expectedVersion: number | undefined,
      now: Date,
    ) => one(await records.update(tenantId, workflowKey, toRow(content), expectedVersion, now)),

    find: async (tenantId: TenantId, workflowKey: string) => one(await records.find(tenantId, workflowKey)),

    /** Locks a workflow against deletion until the transaction ends; false when it does not exist. */
    async lockShared(tenantId: TenantId, workflowKey: string): Promise<boolean> {
      const held = await sql`
        select from notification_workflows
        where tenant_id = ${tenantId} and workflow_key = ${workflowKey} for key share`;
      return held.length === 1;
    },

    /** Deletes a workflow after waiting for its locks. */
    remove: async (tenantId: TenantId, workflowKey: string) => one(await records.remove(tenantId, workflowKey)),

    /** Replaces the row of a workflow by its image; undefined deletes it. */
    async replaceRow(tenantId: TenantId, workflowKey: string, image: RowImage | undefined): Promise<void> {
      await sql`delete from notification_workflows where tenant_id = ${tenantId} and workflow_key = ${workflowKey}`;
      if (image !== undefined) await insertRowImages(sql, "notification_workflows", [image]);
    },

    async list(tenantId: TenantId, page: Page): Promise<PageRows<NotificationWorkflow>> {
      const { rows, ...rest } = await records.list(tenantId, page);
      return { ...rest, rows: rows.map(toWorkflow) };
    },

    /** The keys of workflows that include a partial on any channel, in order. */
    async keysWithPartial(tenantId: TenantId, pattern: string, limit: number): Promise<string[]> {
      const rows = await sql<{ workflowKey: string }[]>`
        select workflow_key from notification_workflows
        where tenant_id = ${tenantId} and channels::text ~ ${pattern}
        order by workflow_key limit ${limit}`;
      return rows.map((row) => row.workflowKey);
    },

    async keys(tenantId: TenantId, limit: number): Promise<string[]> {
      const rows = await sql<{ workflowKey: string }[]>`
        select workflow_key from notification_workflows where tenant_id = ${tenantId}
        order by workflow_key limit ${limit}`;
      return rows.map((row) => row.workflowKey);
    },

    /** The keys of workflows that use a layout on any channel, in order. */
    async keysWithLayout(tenantId: TenantId, layoutId: string, limit: number): Promise<string[]> {
      const rows = await sql<{ workflowKey: string }[]>`
        select workflow_key from notification_workflows
        where tenant_id = ${tenantId}
          and exists (select from jsonb_each(channels) as each(channel, content) where content->>'layoutId' = ${layoutId})
        order by workflow_key limit ${limit}`;
      return rows.map((row) => row.workflowKey);
    },
  };
}

function toWorkflow({ preferences, ...rest }: Row): NotificationWorkflow {
  return { ...rest, preferences: preferences ?? undefined };
}

/** An update replaces all fields, so absent preferences are cleared. */
function toRow({ name, description, channels, preferences = null, steps }: WorkflowContent | Row) {
  return { name, description, channels, preferences, steps };
}

/** Finds which of these keys belong to notification workflows. */
export async function findWorkflows(sql: Sql, tenantId: TenantId, workflowKeys: readonly string[]) {
  const rows = await sql<{ workflowKey: string }[]>`
    select workflow_key from notification_workflows
    where tenant_id = ${tenantId} and workflow_key = any(${workflowKeys as string[]})`;
  return new Set(rows.map(({ workflowKey }) => workflowKey));
}
