import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { PageRows } from "../../../../platform/paging/index.ts";
import { recordTable } from "../../../../platform/records/index.ts";
import type { Gate } from "../domain/gate.ts";
import type { Artifact, Pack } from "../domain/pack.ts";

type PackRow = Omit<Pack, "attachment"> & {
  readonly candidateId: string | null;
  readonly pinnedRevision: number | null;
  readonly pinnedDigest: string | null;
  readonly attachedAt: Date | null;
};

interface GateEnd {
  readonly gateValidUntil: Date | null;
  readonly gateEndReason: string;
}

const packs = recordTable<PackRow, GateEnd>("evidence_packs", {
  fixed: "tenant_id id environment_id environment_key environment_mode requirements_version created_at",
  mutable: `name description status required_types max_age_s accepted_producers revision digest candidate_id
    pinned_revision pinned_digest attached_at archived_at gate_state updated_at record_version`,
  internal: "gate_valid_until gate_end_reason",
});

export function packStore(sql: Sql) {
  const records = packs(sql);
  const one = (row: PackRow | undefined) => row && toPack(row);
  const artifactColumns = sql`kind, name, version, sha256, size_bytes::float8 as size_bytes, storage_ref`;

  return {
    find: async (tenantId: TenantId, id: string) => one(await records.find(tenantId, id)),

    /** Finds a pack and locks it against other changes until the transaction ends. */
    lock: async (tenantId: TenantId, id: string) => one(await records.lock(tenantId, id)),

    /** Finds a pack and keeps it as it is until the transaction ends. */
    hold: async (tenantId: TenantId, id: string) => one(await records.hold(tenantId, id)),

    insert: async (pack: Pack) =>
      toPack(await records.insert({ ...toRow(pack), gateValidUntil: null, gateEndReason: "" })),

    /** Writes a locked pack. */
    async save(pack: Pack, end: Gate["end"], now: Date): Promise<Pack> {
      const row = { ...toRow(pack), gateValidUntil: end?.at ?? null, gateEndReason: end?.reason ?? "" };
      return toPack((await records.update(pack.tenantId, pack.id, row, undefined, now))!);
    },

    /** The pack that is attached to a promotion. */
    async findAttached(tenantId: TenantId, candidateId: string): Promise<string | undefined> {
      const [row] = await sql<{ id: string }[]>`
        select id from evidence_packs where tenant_id = ${tenantId} and candidate_id = ${candidateId}`;
      return row?.id;
    },

    async list(...request: Parameters<typeof records.listWhere>): Promise<PageRows<Pack>> {
      const { rows, ...rest } = await records.listWhere(...request);
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

function toRow({ attachment, ...pack }: Pack): PackRow {
  return {
    ...pack,
    candidateId: attachment?.candidateId ?? null,
    pinnedRevision: attachment?.revision ?? null,
    pinnedDigest: attachment?.digest ?? null,
    attachedAt: attachment?.attachedAt ?? null,
  };
}

function toPack({ candidateId, pinnedRevision, pinnedDigest, attachedAt, ...row }: PackRow): Pack {
  const attachment =
    candidateId === null
      ? undefined
      : { candidateId, revision: pinnedRevision!, digest: pinnedDigest!, attachedAt: attachedAt! };
  return { ...row, attachment };
}
