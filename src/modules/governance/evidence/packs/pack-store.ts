import type { TenantId } from "../../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";
import type { Gate } from "../domain/gate.ts";
import type { Artifact, Pack } from "../domain/pack.ts";

export interface PackFilter {
  readonly environmentId: string;
  readonly status: string;
  readonly inProduction: boolean | undefined;
}

type PackRow = Omit<Pack, "attachment"> & {
  readonly candidateId: string | null;
  readonly pinnedRevision: number | null;
  readonly pinnedDigest: string | null;
  readonly attachedAt: Date | null;
};

export function packStore(sql: Sql) {
  const columns = sql`
    tenant_id, id, environment_id, environment_key, environment_mode, name, description, status, required_types, max_age_s,
    accepted_producers, requirements_version, revision, digest, candidate_id, pinned_revision, pinned_digest, attached_at, archived_at,
    gate_state, created_at, updated_at, record_version`;
  const artifactColumns = sql`kind, name, version, sha256, size_bytes::float8 as size_bytes, storage_ref`;

  async function readOne(tenantId: TenantId, id: string, lock: Fragment): Promise<Pack | undefined> {
    const [row] = await sql<PackRow[]>`
      select ${columns} from evidence_packs where tenant_id = ${tenantId} and id = ${id} ${lock}`;
    return row && toPack(row);
  }

  return {
    find: (tenantId: TenantId, id: string) => readOne(tenantId, id, sql``),

    /** Finds a pack and locks it against other changes until the transaction ends. */
    lock: (tenantId: TenantId, id: string) => readOne(tenantId, id, sql`for update`),

    /** Finds a pack and keeps it as it is until the transaction ends. */
    hold: (tenantId: TenantId, id: string) => readOne(tenantId, id, sql`for share`),

    async insert(pack: Pack): Promise<Pack> {
      const [row] = await sql<PackRow[]>`
        insert into evidence_packs (tenant_id, id, environment_id, environment_key, environment_mode, name, description,
          status, required_types, max_age_s, accepted_producers, requirements_version, revision, digest, gate_state,
          gate_end_reason, created_at, updated_at)
        values (${pack.tenantId}, ${pack.id}, ${pack.environmentId}, ${pack.environmentKey}, ${pack.environmentMode},
          ${pack.name}, ${pack.description}, ${pack.status}, ${sql.json(pack.requiredTypes as never)}, ${pack.maxAgeS},
          ${sql.json(pack.acceptedProducers as never)}, ${pack.requirementsVersion}, ${pack.revision}, ${pack.digest}, ${pack.gateState}, '', ${pack.createdAt},
          ${pack.updatedAt})
        returning ${columns}`;
      return toPack(row!);
    },

    /** Writes a locked pack. */
    async save(pack: Pack, end: Gate["end"], now: Date): Promise<Pack> {
      const { tenantId, id, attachment } = pack;
      const [row] = await sql<PackRow[]>`
        update evidence_packs set
          name = ${pack.name}, description = ${pack.description}, status = ${pack.status},
          required_types = ${sql.json(pack.requiredTypes as never)}, max_age_s = ${pack.maxAgeS},
          accepted_producers = ${sql.json(pack.acceptedProducers as never)},
          revision = ${pack.revision}, digest = ${pack.digest}, candidate_id = ${attachment?.candidateId ?? null},
          pinned_revision = ${attachment?.revision ?? null}, pinned_digest = ${attachment?.digest ?? null},
          attached_at = ${attachment?.attachedAt ?? null}, archived_at = ${pack.archivedAt},
          gate_state = ${pack.gateState}, gate_valid_until = ${end?.at ?? null}, gate_end_reason = ${end?.reason ?? ""},
          updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id}
        returning ${columns}`;
      return toPack(row!);
    },

    /** The pack that is attached to a promotion. */
    async findAttached(tenantId: TenantId, candidateId: string): Promise<string | undefined> {
      const [row] = await sql<{ id: string }[]>`
        select id from evidence_packs where tenant_id = ${tenantId} and candidate_id = ${candidateId}`;
      return row?.id;
    },

    async list(tenantId: TenantId, filter: PackFilter, page: Page): Promise<PageRows<Pack>> {
      const { environmentId, status, inProduction } = filter;
      const where = sql`tenant_id = ${tenantId}
        ${environmentId === "" ? sql`` : sql`and environment_id = ${environmentId}`}
        ${status === "" ? sql`` : sql`and status = ${status}`}
        ${inProduction === undefined ? sql`` : sql`and (environment_key = 'production') = ${inProduction}`}`;
      const { rows, ...rest } = await readKeyset<PackRow>(sql, { columns, table: "evidence_packs", where }, page);
      return { rows: rows.map(toPack), ...rest };
    },

    async readArtifacts(tenantId: TenantId, packId: string): Promise<Artifact[]> {
      return sql<Artifact[]>`
        select ${artifactColumns} from evidence_artifacts where tenant_id = ${tenantId} and pack_id = ${packId}
        order by kind, name`;
    },

    /** Adds an artifact, or replaces the one of the same kind and name. */
    async putArtifact(tenantId: TenantId, packId: string, artifact: Artifact): Promise<void> {
      const { kind, name, version, sha256, sizeBytes, storageRef } = artifact;
      await sql`
        insert into evidence_artifacts (tenant_id, pack_id, kind, name, version, sha256, size_bytes, storage_ref)
        values (${tenantId}, ${packId}, ${kind}, ${name}, ${version}, ${sha256}, ${sizeBytes}, ${storageRef})
        on conflict (tenant_id, pack_id, kind, name) do update
        set version = excluded.version, sha256 = excluded.sha256, size_bytes = excluded.size_bytes,
          storage_ref = excluded.storage_ref`;
    },
  };
}

function toPack({ candidateId, pinnedRevision, pinnedDigest, attachedAt, ...row }: PackRow): Pack {
  const attachment =
    candidateId === null
      ? undefined
      : { candidateId, revision: pinnedRevision!, digest: pinnedDigest!, attachedAt: attachedAt! };
  return { ...row, attachment };
}
