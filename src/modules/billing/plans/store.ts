import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import type { Plan, PlanVersion } from "./domain/plan.ts";
import { fromDocument, type TermsDocument, toDocument } from "./domain/terms-document.ts";

type VersionRow = Omit<PlanVersion, "terms"> & { readonly terms: TermsDocument };

/** Identifies a version of a plan. */
export interface PlanRef {
  readonly planKey: string;
  readonly planVersion: number;
}

/** The SQL queries of plans. They belong to the platform tenant. */
export function planStore(sql: Sql) {
  const columns = sql`
    key, name, description, status, self_service, latest_version, created_at, updated_at, record_version`;
  const versionColumns = sql`plan_key, version, terms, digest, created_at`;
  return {
    async insert(tenantId: TenantId, plan: Plan): Promise<Plan> {
      const [row] = await sql<Plan[]>`
        insert into billing_plans (tenant_id, key, name, description, status, self_service, latest_version, created_at, updated_at)
        values (${tenantId}, ${plan.key}, ${plan.name}, ${plan.description}, ${plan.status}, ${plan.selfService},
          ${plan.latestVersion}, ${plan.createdAt}, ${plan.updatedAt})
        returning ${columns}`;
      return row!;
    },

    async find(tenantId: TenantId, key: string): Promise<Plan | undefined> {
      const [row] = await sql<Plan[]>`
        select ${columns} from billing_plans where tenant_id = ${tenantId} and key = ${key}`;
      return row;
    },

    async list(tenantId: TenantId, page: Page): Promise<PageRows<Plan>> {
      return readKeyset<Plan>(
        sql,
        { columns, table: "billing_plans", where: sql`tenant_id = ${tenantId}`, key: "key" },
        page,
      );
    },

    async archive(tenantId: TenantId, key: string, now: Date): Promise<Plan | undefined> {
      const [row] = await sql<Plan[]>`
        update billing_plans set status = 'archived', updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and key = ${key} and status = 'active'
        returning ${columns}`;
      return row;
    },

    /** Takes the number of the next version, which locks the plan until the transaction ends. */
    async raiseVersion(tenantId: TenantId, key: string, now: Date): Promise<Plan | undefined> {
      const [row] = await sql<Plan[]>`
        update billing_plans
        set latest_version = latest_version + 1, updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and key = ${key} and status = 'active'
        returning ${columns}`;
      return row;
    },

    async insertVersion(tenantId: TenantId, version: PlanVersion): Promise<void> {
      await sql`
        insert into billing_plan_versions (tenant_id, plan_key, version, terms, digest, created_at)
        values (${tenantId}, ${version.planKey}, ${version.version}, ${sql.json(toDocument(version.terms) as never)},
          ${version.digest}, ${version.createdAt})`;
    },

    /** Finds versions; omits those that do not exist. */
    async findVersions(tenantId: TenantId, refs: readonly PlanRef[]): Promise<PlanVersion[]> {
      const rows = await sql<VersionRow[]>`
        select ${versionColumns} from billing_plan_versions where tenant_id = ${tenantId} and (plan_key, version) in (
          select * from unnest(${refs.map((ref) => ref.planKey)}::text[], ${refs.map((ref) => ref.planVersion)}::int[]))`;
      return rows.map(toVersion);
    },

    async listVersions(tenantId: TenantId, planKey: string): Promise<PlanVersion[]> {
      const rows = await sql<VersionRow[]>`
        select ${versionColumns} from billing_plan_versions where tenant_id = ${tenantId} and plan_key = ${planKey}
        order by version`;
      return rows.map(toVersion);
    },
  };
}

function toVersion({ terms, ...row }: VersionRow): PlanVersion {
  return { ...row, terms: fromDocument(terms) };
}
