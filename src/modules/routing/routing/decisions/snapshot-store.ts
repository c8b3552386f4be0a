import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { SnapshotBody, SnapshotHead } from "../../pools/index.ts";

/** The SQL of the snapshots that decisions were made from. */
export function snapshotStore(sql: Sql) {
  return {
    /** Saves a snapshot after its parts. A snapshot that is already stored is marked as in use. */
    async save(tenantId: TenantId, digest: string, head: SnapshotHead, at: Date): Promise<void> {
      await sql`
        insert into routing_snapshots (tenant_id, digest, body, created_at)
        values (${tenantId}, decode(${digest}, 'hex'), ${sql.json(head as never)}, ${at})
        on conflict (tenant_id, digest) do update set created_at = excluded.created_at`;
    },

    /** Saves parts, given as JSON. Parts that are already stored are marked as in use. */
    async saveParts(
      tenantId: TenantId,
      parts: readonly { readonly digest: string; readonly recipients: string }[],
      at: Date,
    ): Promise<void> {
      // Sorted to avoid deadlocks between nodes that save the same parts.
      const sorted = parts.toSorted((one, other) => (one.digest < other.digest ? -1 : 1));
      await sql`
        insert into routing_snapshot_parts (tenant_id, digest, recipients, created_at)
        select ${tenantId}, decode(digest, 'hex'), recipients::json, ${at}
        from unnest(${sorted.map(({ digest }) => digest)}::text[], ${sorted.map(({ recipients }) => recipients)}::text[])
          as part(digest, recipients)
        on conflict (tenant_id, digest) do update set created_at = excluded.created_at`;
    },

    /** A stored snapshot with its recipients; undefined when it has expired. */
    async find(tenantId: TenantId, digest: Buffer): Promise<SnapshotBody | undefined> {
      const [row] = await sql<{ body: SnapshotHead }[]>`
        select body from routing_snapshots where tenant_id = ${tenantId} and digest = ${digest}`;
      if (row === undefined) return undefined;
      const { parts, ...head } = row.body;
      const rows = await sql<{ recipients: SnapshotBody["recipients"] }[]>`
        select recipients from unnest(${parts as string[]}::text[]) with ordinality as part(part_digest, position)
        join routing_snapshot_parts on tenant_id = ${tenantId} and digest = decode(part_digest, 'hex')
        order by position`;
      return rows.length < parts.length ? undefined : { ...head, recipients: rows.flatMap((each) => each.recipients) };
    },
  };
}
