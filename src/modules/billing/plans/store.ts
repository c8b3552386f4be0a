import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import type { Plan, PlanVersion } from "./domain/plan.ts";
import { fromDocument, type TermsDocument, toDocument } from "./domain/terms-document.ts";

type VersionRow = Omit<PlanVersion, "terms"> & { readonly terms: TermsDocument };

/** Identifies a version of a plan. */
export interface PlanRef {
  readonly planKey: string;
  readonly planVersion: number;
}

const plans = recordTable<Plan, { readonly tenantId: TenantId }>("billing_plans", {
  key: "key",
  fixed: "key created_at",
  mutable: "name description status self_service latest_version updated_at record_version",
  internal: "tenant_id",
});

/** The SQL queries of plans. They belong to the platform tenant. */
export function planStore(sql: Sql) {
  const versionColumns = sql`plan_key, version, terms, digest, created_at`;
  const { insert, find, list, set } = plans(sql);
  return {
    insert: (tenantId: TenantId, plan: Plan) => insert({ ...plan, tenantId }),
    find,
    list,

    archive: (tenantId: TenantId, key: string, now: Date) =>
      set(tenantId, key, now, sql`status = 'archived'`, sql`status = 'active'`),

    /** Takes the number of the next version, which locks the plan until the transaction ends. */
    raiseVersion: (tenantId: TenantId, key: string, now: Date) =>
      set(tenantId, key, now, sql`latest_version = latest_version + 1`, sql`status = 'active'`),

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
