import type { TenantId } from "../access/index.ts";
import type { Sql } from "../db/index.ts";

/** The kinds of artifacts with versions. */
export type TargetKind = "pool" | "workflow" | "provider_config";

/** A running canary. */
export interface Canary {
  readonly targetId: string;
  readonly candidateId: string;
  /** Which part of the target the version replaces. */
  readonly artifactKind: "routing" | "strategy" | "workflow" | "connector";
  readonly version: number;
  /** The environment whose work it applies to. */
  readonly environmentId: string;
  readonly salt: string;
  /** The share of the keys, in millionths. */
  readonly sharePpm: number;
}

/** The SQL queries of running canaries. Whoever starts or stops one records the change of the tenant too. */
export function canaryStore(sql: Sql) {
  return {
    async start(tenantId: TenantId, kind: TargetKind, canary: Canary): Promise<void> {
      await sql`
        insert into canaries (tenant_id, target_kind, target_id, candidate_id, artifact_kind, version, environment_id,
          salt, share_ppm)
        values (${tenantId}, ${kind}, ${canary.targetId}, ${canary.candidateId}, ${canary.artifactKind},
          ${canary.version}, ${canary.environmentId}, ${canary.salt}, ${canary.sharePpm})`;
    },

    /** Stops the canary of a candidate; false if it has none on the target. */
    async stop(tenantId: TenantId, kind: TargetKind, targetId: string, candidateId: string): Promise<boolean> {
      const stopped = await sql`
        delete from canaries
        where tenant_id = ${tenantId} and target_kind = ${kind} and target_id = ${targetId}
          and candidate_id = ${candidateId}`;
      return stopped.count > 0;
    },

    async find(tenantId: TenantId, kind: TargetKind, targetId: string): Promise<Canary | undefined> {
      const [row] = await this.findMany(tenantId, kind, [targetId]);
      return row;
    },

    async findMany(tenantId: TenantId, kind: TargetKind, targetIds: readonly string[]): Promise<Canary[]> {
      return sql<Canary[]>`
        select target_id, candidate_id, artifact_kind, version, environment_id, salt, share_ppm from canaries
        where tenant_id = ${tenantId} and target_kind = ${kind} and target_id = any(${targetIds as string[]}::text[])`;
    },
  };
}
