import { createHash, type Hash } from "node:crypto";
import type { Readable } from "node:stream";
import { fail, reasonOf } from "../../../errors/index.ts";
import { classifyDatabaseError, isDataError, isUniqueViolation, type Sql } from "../../../platform/db/index.ts";
import { patient } from "../../../platform/db/move/move.ts";
import { raiseSequences } from "../../../platform/db/move/repair.ts";
import { quoted } from "../../../platform/db/move/stored-tables.ts";
import { openSession, type RowSink, type Session } from "../../../platform/db/sql/session.ts";
import { createSealedRows, rowsIn, type SecretCounts } from "./sealed-rows.ts";
import { keyCheckBinding, keyCheckText, type TransferParts } from "./tenant-export.ts";
import {
  type FileLine,
  openTenantFile,
  refuseFile,
  type TableSum,
  type TenantFileEnd,
  type TenantFileHeader,
} from "./tenant-file.ts";
import { rawLines, readTenantTables, type TenantTable } from "./tenant-tables.ts";

interface ImportRequest {
  readonly url: string;
  readonly from: Readable;
}

/** What was imported. */
export interface ImportReport {
  readonly tenant: TenantFileHeader["tenant"];
  readonly rows: number;
  readonly tables: number;
  readonly objects: number;
  readonly secrets: Readonly<Record<string, SecretCounts>>;
  readonly status: string;
}

/**
 * Imports a tenant that does not exist here. Everything is committed in one transaction: an import that is refused or interrupted
 * leaves no row, and can be repeated.
 */
export async function importTenant({ url, from }: ImportRequest, parts: TransferParts): Promise<ImportReport> {
  const { header, rest } = await openTenantFile(from);
  const session = await openSession(url, patient);
  try {
    return await session.transaction(async (tx) => {
      await requireSuitable(tx, header, parts);
      return await new Import(session, tx, header, parts).run(rest);
    });
  } catch (error) {
    if (isDataError(error) && !isUniqueViolation(error))
      throw refuseFile(`The file is damaged: the database does not accept its rows (${reasonOf(error)}).`, error);
    throw classifyDatabaseError(error) ?? error;
  } finally {
    await session.close();
  }
}

async function requireSuitable(
  tx: Sql,
  { schema, software, tenant, key_check }: TenantFileHeader,
  parts: TransferParts,
) {
  const [applied] = await tx<{ name: string }[]>`select max(name) as name from schema_migrations`;
  if (schema.slice(0, 4) > applied!.name.slice(0, 4)) {
    throw refuseFile(
      `The file has the schema ${schema}, which is newer than that of this database, ${applied!.name}. Upgrade this installation ` +
        `to release ${software} or newer first.`,
    );
  }
  const [taken] = await tx<{ id: string; slug: string }[]>`
    select id, slug from tenants where id = ${tenant.id} or slug = ${tenant.slug} order by id = ${tenant.id} desc limit 1`;
  if (taken !== undefined) {
    throw fail("ALREADY_EXISTS", {
      public:
        taken.id === tenant.id
          ? `The tenant ${tenant.id} exists already. Nothing was imported.`
          : `Another tenant, ${taken.id}, has the slug ${tenant.slug}. Nothing was imported.`,
    });
  }
  if (key_check === null) return;
  if (parts.fileKeyring === undefined) {
    throw refuseFile("The secrets in the file are sealed: give the key of the export with --key-file.");
  }
  if (parts.keyring === undefined) {
    throw refuseFile("This installation has no master key to seal secrets with: set connector.encryption_key.");
  }
  try {
    if (parts.fileKeyring.open(key_check, keyCheckBinding(tenant.id)) === keyCheckText) return;
  } catch {}
  throw refuseFile("The key is not the one that the file was exported with.");
}

/** One import, in a transaction. */
class Import {
  private readonly session: Session;
  private readonly tx: Sql;
  private readonly header: TenantFileHeader;
  private readonly parts: TransferParts;
  private readonly sums: Record<string, TableSum> = {};
  private readonly secrets: Record<string, SecretCounts> = {};
  private objects = 0;

  constructor(session: Session, tx: Sql, header: TenantFileHeader, parts: TransferParts) {
    this.session = session;
    this.tx = tx;
    this.header = header;
    this.parts = parts;
  }

  async run(lines: AsyncIterator<FileLine>): Promise<ImportReport> {
    const { tx, header } = this;
    const tables = new Map((await readTenantTables(tx, header.tenant.id)).map((table) => [table.name, table]));
    await tx`create temporary table imported_rows (cells jsonb) on commit drop`;
    let line = await nextOf(lines);
    while (line.kind === "table") {
      const table = tables.get(line.table);
      const unknown = table === undefined ? undefined : line.columns.find((each) => !table.columns.includes(each));
      if (table === undefined || unknown !== undefined) {
        throw refuseFile(`This release does not know the table ${line.table}${unknown ? `, column ${unknown}` : ""}.`);
      }
      // Without it, it could not be checked whose rows they are.
      if (!line.columns.includes(ownerColumnOf(table))) throw refuseFile(`The table ${table.name} has rows of nobody.`);
      line = await this.readTable(table, line.columns, lines);
    }
    if (!(await this.parts.hasOwnObjects(tx, header.tenant.id))) throw foreignObjects();
    while (line.kind === "object") line = await this.readObject(line.object, lines);
    if (line.kind !== "end") throw refuseFile("The file is damaged: its parts are not in their order.");
    requireComplete(line.end, this.sums, this.objects);
    await this.finish();
    const { tenant, status } = header;
    const { sums, secrets, objects } = this;
    return { tenant, rows: rowsIn(sums), tables: Object.keys(sums).length, objects, secrets, status };
  }

  /** Inserts the rows of a table; returns the line after them. */
  private async readTable(
    table: TenantTable,
    columns: readonly string[],
    lines: AsyncIterator<FileLine>,
  ): Promise<FileLine> {
    const { session, tx } = this;
    const hash = createHash("sha256");
    const replace = this.replacerOf(table, columns);
    await tx`truncate imported_rows`;
    const rows = await session.copyIn(`copy imported_rows from stdin with (${rawLines})`);
    const next = await copyRows(lines, rows, hash, replace).catch(async (error) => {
      await rows.cancel();
      throw error;
    });
    const count = await rows.end();
    if (table.name === "tenant_directory") await this.requireFreeKeys(columns.indexOf("key"));
    const values = columns.map((name, at) => `(cells ->> ${at})::${table.types[table.columns.indexOf(name)]}`);
    await tx.unsafe(
      `insert into ${quoted(table.name)} (${columns.map(quoted).join(", ")}) select ${values.join(", ")} from imported_rows`,
    );
    const [foreign] = await tx.unsafe(
      `select from imported_rows where cells ->> ${columns.indexOf(ownerColumnOf(table))} is distinct from $1 limit 1`,
      [this.header.tenant.id],
    );
    if (foreign !== undefined) throw refuseFile(`The table ${table.name} has rows of another tenant.`);
    this.sums[table.name] = { rows: count, sha256: hash.digest("hex") };
    return next;
  }

  /** Refuses keys that callers of another tenant present. */
  private async requireFreeKeys(at: number): Promise<void> {
    const taken = await this.tx<{ key: string }[]>`
      select key from tenant_directory where key in (select cells ->> ${at}::int from imported_rows) order by key limit 10`;
    if (taken.length === 0) return;
    throw fail("ALREADY_EXISTS", {
      public: `Another tenant has these API keys or sign-in connections: ${taken.map(({ key }) => key).join(", ")}. Nothing was imported.`,
    });
  }

  private replacerOf(table: TenantTable, columns: readonly string[]): ((line: Buffer) => Buffer) | undefined {
    const { keyring, fileKeyring, sealed } = this.parts;
    const own = sealed.find((each) => each.table === table.name);
    if (own === undefined) return undefined;
    const rows = createSealedRows(own, columns, { open: fileKeyring, seal: keyring }, keyring?.activeKeyId ?? "");
    this.secrets[table.name] = rows.counts;
    return rows.replace;
  }

  /** Stores an object; returns the line after its bytes. */
  private async readObject(
    { key, size_bytes, sha256 }: Extract<FileLine, { kind: "object" }>["object"],
    lines: AsyncIterator<FileLine>,
  ): Promise<FileLine> {
    if (!key.startsWith(`${this.header.tenant.id}/`)) throw foreignObjects();
    let next: FileLine | undefined;
    let unreadable: unknown;
    async function* body() {
      for (;;) {
        const line = await nextOf(lines).catch((error) => {
          unreadable = error;
          throw error;
        });
        if (line.kind !== "bytes") {
          next = line;
          return;
        }
        yield Buffer.from(line.line.subarray(1, line.line.lastIndexOf('"')).toString("latin1"), "base64");
      }
    }
    const expected = { sizeBytes: size_bytes, sha256 };
    await this.parts.objects.put(key, body(), expected, new AbortController().signal).catch((cause) => {
      throw unreadable ?? refuseFile(`The object ${key} could not be stored.`, cause);
    });
    this.objects++;
    return next ?? nextOf(lines);
  }

  /** Completes what the rows depend on in this installation. */
  private async finish(): Promise<void> {
    const { tx, header } = this;
    const tenantId = header.tenant.id;
    const missing = await tx<{ plan: string }[]>`
      select distinct plan_key || ' version ' || plan_version as plan from billing_segments used where tenant_id = ${tenantId}
        and not exists (
          select from billing_plan_versions known join tenants on tenants.id = known.tenant_id and tenants.platform
          where known.plan_key = used.plan_key and known.version = used.plan_version)
      order by plan`;
    if (missing.length > 0) {
      throw refuseFile(`Create these plans first: ${missing.map(({ plan }) => plan).join(", ")}.`);
    }
    await this.parts.adoptObjects(tx, tenantId);
    await raiseSequences(tx);
    await tx`insert into tenant_versions (tenant_id) values (${tenantId})`;
    const { count } = await tx`update tenants set status = ${header.status}, platform = false where id = ${tenantId}`;
    if (count === 0) throw refuseFile("The file is damaged: it has no tenant.");
  }
}

/** The column that names the tenant. */
function ownerColumnOf({ name }: TenantTable): string {
  return name === "tenants" ? "id" : "tenant_id";
}

function foreignObjects(): Error {
  return refuseFile("The file is damaged: it has objects of another tenant.");
}

/** Passes the rows of one table on; returns the line after them. */
async function copyRows(
  lines: AsyncIterator<FileLine>,
  rows: RowSink,
  hash: Hash,
  replace: ((line: Buffer) => Buffer) | undefined,
): Promise<FileLine> {
  for (;;) {
    const next = await nextOf(lines);
    if (next.kind !== "row") return next;
    hash.update(next.line);
    const full = rows.write(replace?.(next.line) ?? next.line);
    if (full !== undefined) await full;
  }
}

async function nextOf(lines: AsyncIterator<FileLine>): Promise<FileLine> {
  const { value, done } = await lines.next();
  if (done) throw refuseFile("The file is damaged: its parts are not in their order.");
  return value;
}

function requireComplete(end: TenantFileEnd, sums: Readonly<Record<string, TableSum>>, objects: number): void {
  for (const table of new Set([...Object.keys(end.tables), ...Object.keys(sums)])) {
    const [told, read] = [end.tables[table], sums[table]];
    if (told?.rows !== read?.rows || told?.sha256 !== read?.sha256) {
      throw refuseFile(`The file is damaged: the rows of ${table} are not those that were exported.`);
    }
  }
  if (end.objects !== objects) throw refuseFile("The file is damaged: objects are missing.");
}
