import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { readFile, rename, rm } from "node:fs/promises";
import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Node } from "../../app/compose.ts";
import { openKeyring } from "../../app/keyring.ts";
import { release, version } from "../../app/version.ts";
import type { Config, LoadedConfig } from "../../config/index.ts";
import { catalogue, Failure, fail, reasonOf } from "../../errors/index.ts";
import {
  type ExportReport,
  exportTenant,
  type ImportReport,
  importTenant,
  type Suspension,
  suspendForMove,
  type TransferParts,
} from "../../modules/tenancy/index.ts";
import { createKeyring, type Keyring } from "../../platform/crypto/index.ts";
import { openDatabase, type Sql } from "../../platform/db/index.ts";
import { migrate } from "../../platform/db/migrate.ts";
import { CliError, exitCodeOf, exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { withComposedNode } from "./composed-node.ts";
import { migrationsFolder, withRunningDatabase } from "./database-access.ts";
import { resolveSettings, type SettingsOptions } from "./settings-options.ts";

interface KeyOptions extends SettingsOptions {
  readonly keyFile?: string;
}

/** Writes a tenant to a file. */
export async function exportCommand(
  io: Io,
  tenant: string,
  options: KeyOptions & { to: string; move?: boolean },
): Promise<number> {
  const loaded = await resolveSettings(io, options);
  const fileKeyring = await readKeyFile(options.keyFile);
  const write = (url: string) =>
    withTransfer(loaded, url, fileKeyring, async (parts, node) => {
      const request = { url, tenant, software: version, now: new Date() };
      if (!options.move)
        return writeFileOnce(options.to, (to) => exportTenant({ ...request, to, status: "suspended" }, parts));
      return withSuspended(loaded.config, url, node, tenant, (status) =>
        writeFileOnce(options.to, (to) => exportTenant({ ...request, to, status }, parts)),
      );
    });
  const report = await withRunningDatabase(loaded.config, write).catch((error) => refusal("export the tenant", error));
  describeExport(options.to === "-" ? io.err : io.out, options, report);
  return report.lostObjects.length === 0 ? exitCodes.ok : exitCodes.failed;
}

/** Imports a tenant from a file. */
export async function importCommand(io: Io, from: string, options: KeyOptions): Promise<number> {
  const loaded = await resolveSettings(io, options);
  const fileKeyring = await readKeyFile(options.keyFile);
  const report = await withRunningDatabase(loaded.config, async (url) => {
    await migrate(url, migrationsFolder, { release });
    return withTransfer(loaded, url, fileKeyring, (parts) =>
      importTenant({ url, from: from === "-" ? process.stdin : createReadStream(from) }, parts),
    );
  }).catch((error) => refusal("import the tenant", error));
  describeImport(io, report);
  return exitCodes.ok;
}

async function readKeyFile(file: string | undefined): Promise<Keyring | undefined> {
  if (file === undefined) return undefined;
  try {
    return createKeyring({ activeKeyId: "file", keys: { file: await readFile(file, "utf8") } });
  } catch (cause) {
    throw new CliError(`--key-file: ${(cause as Error).message}`, exitCodes.usage, { cause });
  }
}

function withTransfer<T>(
  loaded: LoadedConfig,
  url: string,
  fileKeyring: Keyring | undefined,
  work: (parts: TransferParts, node: Node) => Promise<T>,
): Promise<T> {
  return withComposedNode(loaded, url, "transfer", (node) =>
    work(
      {
        ...node.workflows.transfer,
        sealed: node.tenancy.secrets.sealed,
        keyring: openKeyring(loaded.config),
        fileKeyring,
      },
      node,
    ),
  );
}

/** Writes a file that exists only when it is complete and stored; `-` is stdout. */
async function writeFileOnce<T>(path: string, write: (to: Writable) => Promise<T>): Promise<T> {
  if (path === "-") {
    return write(new Writable({ write: (chunk, encoding, done) => void process.stdout.write(chunk, encoding, done) }));
  }
  if (existsSync(path)) throw fail("ALREADY_EXISTS", { public: `The file ${path} exists already.` });
  const partial = `${path}.partial`;
  try {
    const result = await write(createWriteStream(partial, { mode: 0o600, flush: true }));
    await rename(partial, path);
    return result;
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** Runs an export while its tenant is suspended. If it fails, the tenant becomes what it was. */
async function withSuspended<T>(
  config: Config,
  url: string,
  node: Node,
  tenant: string,
  work: (status: Suspension["status"]) => Promise<T>,
): Promise<T> {
  const db = openDatabase(url, { maxConnections: 1, applicationName: "switchyard transfer" });
  try {
    const suspension = await suspendForMove(db, node.changes, tenant);
    try {
      // Nodes learn of the suspension within a second. What they have begun before ends within the time of a call, and they store
      // counts of calls every ten seconds.
      if (await areNodesRunning(db.sql)) await sleep(config["api.request_timeout_s"] * 1000 + 11_000);
      return await work(suspension.status);
    } catch (error) {
      await suspension.undo();
      throw error;
    }
  } finally {
    await db.close();
  }
}

async function areNodesRunning(sql: Sql): Promise<boolean> {
  const { count } = await sql`
    select from pg_stat_activity where datname = current_database() and application_name like 'switchyard%'
      and application_name <> 'switchyard transfer' limit 1`;
  return count > 0;
}

function describeExport(
  out: Io["out"],
  { to, move, keyFile }: { to: string; move?: boolean; keyFile?: string },
  { rows, tables, objects, secrets, lostObjects }: ExportReport,
): void {
  out(
    `Exported ${counted(rows, "row")} of ${tables} tables and ${counted(objects, "object")}${to === "-" ? "" : ` to ${to}`}.\n`,
  );
  describeSecrets(
    out,
    secrets,
    keyFile === undefined ? "left out (give a key with --key-file to export them)" : "left out: no key opens them",
  );
  for (const key of lostObjects) out(`The object store has lost ${key}.\n`);
  if (move) out("The tenant is suspended here. Import it elsewhere, and delete it here afterwards.\n");
}

function describeImport(io: Io, { tenant, rows, tables, objects, secrets, status }: ImportReport): void {
  io.out(
    `Imported ${tenant.name} (${tenant.id}): ${counted(rows, "row")} of ${tables} tables and ${counted(objects, "object")}.\n`,
  );
  describeSecrets(io.out, secrets, "not in the file: set them again");
  io.out(
    status === "active"
      ? "The tenant is active.\n"
      : "The tenant is suspended. Make it active when it is suspended or deleted at its source, or both do its work.\n",
  );
}

function describeSecrets(out: Io["out"], secrets: ExportReport["secrets"], why: string): void {
  for (const [table, { sealed, leftOut }] of Object.entries(secrets)) {
    if (sealed > 0) out(`  ${table}: ${counted(sealed, "secret")} sealed\n`);
    if (leftOut > 0) out(`  ${table}: ${counted(leftOut, "secret")} ${why}\n`);
  }
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

function refusal(work: string, error: unknown): never {
  const exitCode = error instanceof Failure ? exitCodeOf(catalogue[error.code].http, undefined) : exitCodes.failed;
  throw new CliError(`Cannot ${work}: ${reasonOf(error)}`, exitCode, { cause: error });
}
