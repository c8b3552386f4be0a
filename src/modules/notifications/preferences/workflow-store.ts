import type { TenantId } from "../../../platform/access/index.ts";
import { insertRowImages, type RowImage, type Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import type { NotificationWorkflow, WorkflowContent } from "./domain/workflow.ts";

type Row = Omit<NotificationWorkflow, "preferences"> & { readonly preferences: WorkflowContent["preferences"] | null };

/** SQL queries for notification workflows. */
export function workflowStore(sql: Sql) {
  const columns = sql`
    tenant_id, workflow_key, name, description, channels, preferences, steps, created_at, updated_at,
    record_version`;
  const one = ([row]: Row[]) => (row === undefined ? undefined : toWorkflow(row));
  return {
    /** Inserts a workflow; undefined when its key is already used. */
    async insert(
      tenantId: TenantId,
      workflowKey: string,
      { name, description, channels, preferences, steps }: WorkflowContent,
      now: Date,
    ): Promise<NotificationWorkflow | undefined> {
      return one(
        await sql<Row[]>`
          insert into notification_workflows (tenant_id, workflow_key, name, description, channels, preferences,
            steps, created_at, updated_at)
          values (${tenantId}, ${workflowKey}, ${name}, ${description}, ${sql.json(channels as never)},
            ${preferences === undefined ? null : sql.json(preferences as never)}, ${sql.json(steps as never)}, ${now},
            ${now})
          on conflict (tenant_id, workflow_key) do nothing
          returning ${columns}`,
      );
    },

    /** Replaces a workflow's content; undefined when the expected version is not current. */
    async update(
      tenantId: TenantId,
      workflowKey: string,
      { name, description, channels, preferences, steps }: WorkflowContent,
      expectedVersion: number | undefined,
      now: Date,
    ): Promise<NotificationWorkflow | undefined> {
      return one(
        await sql<Row[]>`
          update notification_workflows set
            name = ${name}, description = ${description}, channels = ${sql.json(channels as never)},
            preferences = ${preferences === undefined ? null : sql.json(preferences as never)},
            steps = ${sql.json(steps as never)},
            updated_at = ${now}, record_version = record_version + 1
          where tenant_id = ${tenantId} and workflow_key = ${workflowKey}
            and record_version = coalesce(${expectedVersion ?? null}::int, record_version)
          returning ${columns}`,
      );
    },

    async find(tenantId: TenantId, workflowKey: string): Promise<NotificationWorkflow | undefined> {
      return one(
        await sql<Row[]>`
          select ${columns} from notification_workflows
          where tenant_id = ${tenantId} and workflow_key = ${workflowKey}`,
      );
    },

    /** Locks a workflow against deletion until the transaction ends; false when it does not exist. */
    async lockShared(tenantId: TenantId, workflowKey: string): Promise<boolean> {
      const held = await sql`
        select from notification_workflows
        where tenant_id = ${tenantId} and workflow_key = ${workflowKey} for key share`;
      return held.length === 1;
    },

    /** Deletes a workflow after waiting for its locks. */
    async remove(tenantId: TenantId, workflowKey: string): Promise<NotificationWorkflow | undefined> {
      return one(
        await sql<Row[]>`
          delete from notification_workflows where tenant_id = ${tenantId} and workflow_key = ${workflowKey}
          returning ${columns}`,
      );
    },

    /** Replaces the row of a workflow by its image; undefined deletes it. */
    async replaceRow(tenantId: TenantId, workflowKey: string, image: RowImage | undefined): Promise<void> {
      await sql`delete from notification_workflows where tenant_id = ${tenantId} and workflow_key = ${workflowKey}`;
      if (image !== undefined) await insertRowImages(sql, "notification_workflows", [image]);
    },

    async list(tenantId: TenantId, page: Page): Promise<PageRows<NotificationWorkflow>> {
      const where = sql`tenant_id = ${tenantId}`;
      const selection = { columns, table: "notification_workflows", where, key: "workflow_key" };
      const { rows, ...rest } = await readKeyset<Row>(sql, selection, page);
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

/** Finds which of these keys belong to notification workflows. */
export async function findWorkflows(
  sql: Sql,
  tenantId: TenantId,
  workflowKeys: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ workflowKey: string }[]>`
    select workflow_key from notification_workflows
    where tenant_id = ${tenantId} and workflow_key = any(${workflowKeys as string[]})`;
  return new Set(rows.map(({ workflowKey }) => workflowKey));
}
