import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import type { Candidate, CandidateArtifact, CandidateId, HistoryEntry } from "./domain/candidate.ts";

/** Which candidate, of any tenant. */
export type CandidateRef = Pick<Candidate, "tenantId" | "id">;

/** The fields that a statement can change. */
export type CandidateChange = Partial<
  Pick<Candidate, "state" | "packId" | "preflight" | "guardrailReport" | "canary" | "approval" | "promotion">
>;

type Row = Omit<Candidate, "artifacts">;

const candidates = recordTable<Row>("promotion_candidates", {
  fixed: `tenant_id id environment_id environment_key name description guardrails waiver_reason salt created_by creators authors
    created_at`,
  mutable: "state pack_id preflight guardrail_report canary approval promotion updated_at record_version",
});

/** The SQL queries of candidates. */
export function candidateStore(sql: Sql) {
  const records = candidates(sql);

  async function withArtifacts(rows: readonly Row[]): Promise<Candidate[]> {
    if (rows.length === 0) return [];
    const artifacts = await sql<(CandidateArtifact & { candidateId: string })[]>`
      select candidate_id, kind, target_kind, target_id, target_name, version, sha256, base_version, base_sha256
      from promotion_artifacts
      where tenant_id = ${rows[0]!.tenantId} and candidate_id = any(${rows.map(({ id }) => id)}::text[])
      order by position`;
    const byCandidate = Map.groupBy(artifacts, ({ candidateId }) => candidateId);
    return rows.map((row) => ({
      ...row,
      artifacts: (byCandidate.get(row.id) ?? []).map(({ candidateId: _, ...artifact }) => artifact),
    }));
  }

  const one = async (row: Row | undefined) => row && (await withArtifacts([row]))[0];

  return {
    async insert(candidate: Candidate): Promise<void> {
      const { tenantId, id, artifacts: all } = candidate;
      await records.insert(candidate);
      await sql`
        insert into promotion_artifacts (tenant_id, candidate_id, position, kind, target_kind, target_id, target_name,
          version, sha256, base_version, base_sha256, open)
        select ${tenantId}, ${id}, position, kind, target_kind, target_id, target_name, version, sha256, base_version,
          base_sha256, true
        from unnest(${all.map((_, at) => at)}::int[], ${all.map(({ kind }) => kind)}::text[],
          ${all.map(({ targetKind }) => targetKind)}::text[], ${all.map(({ targetId }) => targetId)}::text[],
          ${all.map(({ targetName }) => targetName)}::text[], ${all.map(({ version }) => version)}::int[],
          ${all.map(({ sha256 }) => sha256)}::text[], ${all.map(({ baseVersion }) => baseVersion)}::int[],
          ${all.map(({ baseSha256 }) => baseSha256)}::text[])
          as artifact(position, kind, target_kind, target_id, target_name, version, sha256, base_version, base_sha256)`;
    },

    find: async (tenantId: TenantId, id: string) => one(await records.find(tenantId, id)),

    /** Finds a candidate and locks it until the transaction ends. */
    lock: async (tenantId: TenantId, id: string) => one(await records.lock(tenantId, id)),

    /** Candidates of all tenants with running canaries, after one of them, in a stable order. */
    async listRunning(last: CandidateRef | undefined, limit: number): Promise<readonly CandidateRef[]> {
      const { tenantId = "", id = "" } = last ?? {};
      return sql<CandidateRef[]>`
        select distinct tenant_id, candidate_id as id from canaries
        where (tenant_id, candidate_id) > (${tenantId}, ${id}) order by 1, 2 limit ${limit}`;
    },

    /** Changes a locked candidate. */
    async update(tenantId: TenantId, id: CandidateId, change: CandidateChange, now: Date): Promise<Candidate> {
      return (await one(await records.update(tenantId, id, change, undefined, now)))!;
    },

    /** Notes what the targets have now. */
    async setBases(tenantId: TenantId, id: CandidateId, artifacts: readonly CandidateArtifact[]): Promise<void> {
      await sql`
        update promotion_artifacts set base_version = base.version, base_sha256 = base.sha256
        from unnest(${artifacts.map((_, at) => at)}::int[], ${artifacts.map(({ baseVersion }) => baseVersion)}::int[],
          ${artifacts.map(({ baseSha256 }) => baseSha256)}::text[]) as base(position, version, sha256)
        where tenant_id = ${tenantId} and candidate_id = ${id} and promotion_artifacts.position = base.position`;
    },

    /** Lets other candidates change the targets. */
    async closeArtifacts(tenantId: TenantId, id: CandidateId): Promise<void> {
      await sql`update promotion_artifacts set open = false where tenant_id = ${tenantId} and candidate_id = ${id}`;
    },

    /** The open candidate of one of some targets. */
    findOpen: (tenantId: TenantId, targets: readonly Pick<CandidateArtifact, "targetKind" | "targetId">[]) =>
      sql<{ candidateId: string; targetName: string }[]>`
        select candidate_id, target_name from promotion_artifacts
        where tenant_id = ${tenantId} and open and (target_kind, target_id) in (
          select * from unnest(${targets.map(({ targetKind }) => targetKind)}::text[],
            ${targets.map(({ targetId }) => targetId)}::text[]))
        limit 1`.first(),

    async countOpen(tenantId: TenantId): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(distinct candidate_id)::int as count from promotion_artifacts
        where tenant_id = ${tenantId} and open`;
      return row!.count;
    },

    async list(...request: Parameters<typeof records.listWhere>): Promise<PageRows<Candidate>> {
      const { rows, ...rest } = await records.listWhere(...request);
      return { ...rest, rows: await withArtifacts(rows) };
    },

    async addHistory(tenantId: TenantId, candidateId: CandidateId, entry: HistoryEntry): Promise<void> {
      await sql`
        insert into promotion_history (tenant_id, candidate_id, id, call, from_state, to_state, actor, summary, at)
        values (${tenantId}, ${candidateId}, ${entry.id}, ${entry.call}, ${entry.fromState}, ${entry.toState},
          ${entry.actor}, ${entry.summary}, ${entry.at})`;
    },

    async listHistory(tenantId: TenantId, candidateId: string, page: Page): Promise<PageRows<HistoryEntry>> {
      const where = sql`tenant_id = ${tenantId} and candidate_id = ${candidateId}`;
      const columns = sql`id, call, from_state, to_state, actor, summary, at`;
      return readKeyset<HistoryEntry>(sql, { columns, table: "promotion_history", where }, page);
    },
  };
}
