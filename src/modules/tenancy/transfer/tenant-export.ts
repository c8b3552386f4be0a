import type { Writable } from "node:stream";
import { fail } from "../../../errors/index.ts";
import type { Keyring, Reencryptable } from "../../../platform/crypto/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { patient } from "../../../platform/db/move/move.ts";
import { openSession, type Session } from "../../../platform/db/sql/session.ts";
import type { ObjectStore } from "../../../platform/objects/index.ts";
import { createPositions } from "./positions.ts";
import { createSealedRows, rowsIn, type SecretCounts } from "./sealed-rows.ts";
import { createTenantFileWriter, type FileObject, type TableSum } from "./tenant-file.ts";
import { copyStatement, readTenantTables, type TenantTable } from "./tenant-tables.ts";

/** The tables and objects of other areas that a transfer knows only by their form. */
export interface TransferParts {
  readonly sealed: readonly Reencryptable[];
  readonly objects: ObjectStore;
  /** The objects of a tenant whose bytes are stored in this region. */
  readonly listObjects: (sql: Sql, tenantId: string) => Promise<readonly FileObject[]>;
  /** Whether all objects that the rows of a tenant name are its own. */
  readonly hasOwnObjects: (tx: Sql, tenantId: string) => Promise<boolean>;
  /** Notes that the objects of an imported tenant are stored in this region. */
  readonly adoptObjects: (tx: Sql, tenantId: string) => Promise<void>;
  /** Opens and seals the secrets of this installation. */
  readonly keyring: Keyring | undefined;
  /** Opens and seals the secrets in the file; without it, they are left out. */
  readonly fileKeyring: Keyring | undefined;
}

interface ExportRequest {
  readonly url: string;
  /** An id or a slug. */
  readonly tenant: string;
  readonly to: Writable;
  readonly software: string;
  readonly now: Date;
  /** What the tenant becomes where it is imported. */
  readonly status: "active" | "suspended";
}

/** What was exported. */
export interface ExportReport {
  readonly rows: number;
  readonly tables: number;
  readonly objects: number;
  /** The tables that have secrets. */
  readonly secrets: Readonly<Record<string, SecretCounts>>;
  /** Keys of objects whose bytes the store has lost. */
  readonly lostObjects: readonly string[];
}

/** The binding of the value that shows whether a key is the one of the file. */
export const keyCheckBinding = (tenantId: string) => ({ tenantId, recordId: "header", field: "key_check" });
export const keyCheckText = "switchyard";

/** Writes all that belongs to a tenant as one consistent snapshot. Memory stays bounded, whatever the number and size of the rows. */
export async function exportTenant(request: ExportRequest, parts: TransferParts): Promise<ExportReport> {
  const session = await openSession(request.url, patient);
  try {
    return await session.transaction(async (tx) => {
      await tx`set transaction isolation level repeatable read`;
      return writeTenant(session, tx, request, parts);
    });
  } finally {
    await session.close();
  }
}

/** The tenant of an id or slug. Throws for the platform tenant, which belongs to its installation. */
export async function findTenant(sql: Sql, name: string) {
  const [tenant] = await sql<{ id: string; slug: string; name: string; status: string; platform: boolean }[]>`
    select id, slug, name, status, platform from tenants where id = ${name} or slug = ${name}
    order by id = ${name} desc limit 1`;
  if (tenant === undefined || tenant.status === "deleted") {
    throw fail("NOT_FOUND", { public: `There is no tenant with the id or slug ${JSON.stringify(name)}.` });
  }
  if (tenant.platform) {
    throw fail("FAILED_PRECONDITION", {
      public: "The platform tenant belongs to its installation. Move everything with: service database move",
    });
  }
  const { platform: _, ...found } = tenant;
  return found;
}

async function writeTenant(
  session: Session,
  tx: Sql,
  { tenant: name, to, software, now, status }: ExportRequest,
  parts: TransferParts,
): Promise<ExportReport> {
  const { status: _, ...tenant } = await findTenant(tx, name);
  const { fileKeyring } = parts;
  const [schema] = await tx<{ name: string }[]>`select max(name) as name from schema_migrations`;
  const tables = await readTenantTables(tx, tenant.id);
  const positionOf = await createPositions(tx, tables);
  const file = createTenantFileWriter(to, {
    ...{ schema: schema!.name, software, exported_at: now.toISOString(), tenant, status },
    key_check: fileKeyring?.seal(keyCheckText, keyCheckBinding(tenant.id)) ?? null,
  });
  const sums: Record<string, TableSum> = {};
  const secrets: Record<string, SecretCounts> = {};
  for (const table of tables) {
    await file.startTable(table.name, table.columns);
    const rows = await copyTable(table);
    sums[table.name] = { rows, sha256: file.sum() };
  }
  const objects = await parts.listObjects(tx, tenant.id);
  const lostObjects: string[] = [];
  for (const object of objects) {
    const range = { firstByte: 0, byteCount: object.size_bytes };
    const body = await parts.objects.read(object.key, range, new AbortController().signal);
    if (body === undefined) lostObjects.push(object.key);
    else await file.addObject(object, body);
  }
  const stored = objects.length - lostObjects.length;
  await file.end({ tables: sums, objects: stored });
  return { rows: rowsIn(sums), tables: tables.length, objects: stored, secrets, lostObjects };

  async function copyTable(table: TenantTable): Promise<number> {
    const statement = copyStatement(table, positionOf);
    const sealed = parts.sealed.find((each) => each.table === table.name);
    if (sealed === undefined) return session.copyOut(statement, file.add);
    const rows = createSealedRows(sealed, table.columns, { open: parts.keyring, seal: fileKeyring }, "");
    // The server sends each row in a message of its own.
    const count = await session.copyOut(statement, (chunk) => file.add(rows.replace(chunk)));
    if (rows.counts.sealed + rows.counts.leftOut > 0) secrets[table.name] = rows.counts;
    return count;
  }
}
