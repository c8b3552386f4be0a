import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import type { Candidate, CandidateArtifact, CandidateId, HistoryEntry } from "./domain/candidate.ts";

/** The filter of a list of candidates. */
export interface CandidateFilter {
  readonly state: string;
  readonly environmentId: string;
  readonly inProduction: boolean | undefined;
}

/** Which candidate, of any tenant. */
export interface CandidateRef {
  readonly tenantId: TenantId;
  readonly id: CandidateId;
}

/** The fields that a statement can change. */
export type CandidateChange = Partial<
  Pick<Candidate, "state" | "packId" | "preflight" | "guardrailReport" | "canary" | "approval" | "promotion">
>;

type Row = Omit<Candidate, "artifacts">;

/** The SQL queries of candidates. */
export function candidateStore(sql: Sql) {
  const columns = sql`
    tenant_id, id, environment_id, environment_key, name, description, state, pack_id, guardrails, waiver_reason, salt,
    preflight, guardrail_report, canary, approval, promotion, created_by, creators, created_at, updated_at, record_version`;
  const json = (value: unknown) => (value === null ? null : sql.json(value as never));

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

  return {
    async insert(candidate: Candidate): Promise<void> {
      const { tenantId, id, environmentId, environmentKey, name, description, state } = candidate;
      await sql`
        insert into promotion_candidates (tenant_id, id, environment_id, environment_key, name, description, state,
          guardrails, waiver_reason, salt, created_by, creators, created_at, updated_at)
        values (${tenantId}, ${id}, ${environmentId}, ${environmentKey}, ${name}, ${description}, ${state},
          ${json(candidate.guardrails)}, ${candidate.waiverReason}, ${candidate.salt}, ${candidate.createdBy},
          ${candidate.creators as string[]}, ${candidate.createdAt}, ${candidate.updatedAt})`;
      const all = candidate.artifacts;
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

    async find(tenantId: TenantId, id: string): Promise<Candidate | undefined> {
      const rows = await sql<Row[]>`
        select ${columns} from promotion_candidates where tenant_id = ${tenantId} and id = ${id}`;
      return (await withArtifacts(rows))[0];
    },

    /** Finds a candidate and locks it until the transaction ends. */
    async lock(tenantId: TenantId, id: string): Promise<Candidate | undefined> {
      const rows = await sql<Row[]>`
        select ${columns} from promotion_candidates where tenant_id = ${tenantId} and id = ${id} for update`;
      return (await withArtifacts(rows))[0];
    },

    /** Candidates of all tenants with running canaries, after one of them, in a stable order. */
    async listRunning(last: CandidateRef | undefined, limit: number): Promise<readonly CandidateRef[]> {
      const { tenantId = "", id = "" } = last ?? {};
      return sql<CandidateRef[]>`
        select distinct tenant_id, candidate_id as id from canaries
        where (tenant_id, candidate_id) > (${tenantId}, ${id}) order by 1, 2 limit ${limit}`;
    },

    /** Changes a locked candidate. */
    async update(tenantId: TenantId, id: CandidateId, change: CandidateChange, now: Date): Promise<Candidate> {
      const { state, packId, preflight, guardrailReport, canary, approval, promotion } = change;
      const rows = await sql<Row[]>`
        update promotion_candidates set
          state = ${state === undefined ? sql`state` : state},
          pack_id = ${packId === undefined ? sql`pack_id` : packId},
          preflight = ${preflight === undefined ? sql`preflight` : json(preflight)},
          guardrail_report = ${guardrailReport === undefined ? sql`guardrail_report` : json(guardrailReport)},
          canary = ${canary === undefined ? sql`canary` : json(canary)},
          approval = ${approval === undefined ? sql`approval` : json(approval)},
          promotion = ${promotion === undefined ? sql`promotion` : json(promotion)},
          updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id}
        returning ${columns}`;
      return (await withArtifacts(rows))[0]!;
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
    async findOpen(
      tenantId: TenantId,
      targets: readonly Pick<CandidateArtifact, "targetKind" | "targetId">[],
    ): Promise<{ readonly candidateId: string; readonly targetName: string } | undefined> {
      const [row] = await sql<{ candidateId: string; targetName: string }[]>`
        select candidate_id, target_name from promotion_artifacts
        where tenant_id = ${tenantId} and open and (target_kind, target_id) in (
          select * from unnest(${targets.map(({ targetKind }) => targetKind)}::text[],
            ${targets.map(({ targetId }) => targetId)}::text[]))
        limit 1`;
      return row;
    },

    async countOpen(tenantId: TenantId): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(distinct candidate_id)::int as count from promotion_artifacts
        where tenant_id = ${tenantId} and open`;
      return row!.count;
    },

    async list(tenantId: TenantId, filter: CandidateFilter, page: Page): Promise<PageRows<Candidate>> {
      const { state, environmentId, inProduction } = filter;
      const where = sql`tenant_id = ${tenantId}
        ${state === "" ? sql`` : sql`and state = ${state}`}
        ${environmentId === "" ? sql`` : sql`and environment_id = ${environmentId}`}
        ${inProduction === undefined ? sql`` : sql`and (environment_key = 'production') = ${inProduction}`}`;
      const selection = { columns, table: "promotion_candidates", where, newestFirst: true };
      const { rows, ...rest } = await readKeyset<Row>(sql, selection, page);
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
      const selection = {
        columns: sql`id, call, from_state, to_state, actor, summary, at`,
        table: "promotion_history",
      };
      return readKeyset<HistoryEntry>(sql, { ...selection, where }, page);
    },
  };
}
