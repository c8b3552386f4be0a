import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fail } from "../../../errors/index.ts";
import { nativeFolder } from "./embedded-binaries.ts";
import { lockFolder } from "./embedded-lock.ts";
import { endOccupants, endOrphans } from "./embedded-orphans.ts";
import { type Program, runProgram, type Server, startServer } from "./embedded-process.ts";
import { reachable, type ServerUser, serverUser } from "./embedded-user.ts";
import { restoreMarkFile } from "./restore-mark.ts";
import { archivingSettings, setArchiving } from "./wal-archiving.ts";

/** Options of the embedded PostgreSQL. */
export interface EmbeddedOptions {
  /** The service's data folder; PostgreSQL uses a private folder inside it. */
  readonly dataDir: string;
  /** Receives each line of the server's log. */
  readonly log?: (line: string) => void;
  readonly maxConnections?: number;
  /** False only in tests, where data may be lost in a crash of the machine. */
  readonly durable?: boolean;
  /** False disables user namespaces, which only root needs. */
  readonly userNamespaces?: boolean;
  /** Whether the log is kept until somebody archives it; as at the last start by default. */
  readonly isArchiving?: boolean | undefined;
  /** Whether a restore starts the server that it is restoring, in a folder that it has locked; anybody else is refused. */
  readonly isRestoring?: boolean;
  /** Server settings that override the defaults. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A running PostgreSQL that belongs to this process. */
export interface Embedded {
  /** The database `switchyard`. Its host is a socket folder; see `socketHost`. */
  readonly url: string;
  readonly pid: number;
  /** Resolves with the reason when the server has ended, whether requested or not. */
  readonly exited: Promise<string>;
  /** Stops the server and all its connections. Committed data is not lost. */
  stop(): Promise<void>;
}

/** The folders of one start. */
interface Place {
  readonly home: string;
  readonly cluster: string;
  readonly native: string;
  readonly user: ServerUser;
}

/**
 * Starts the PostgreSQL of a data folder; creates it at the first start.
 *
 * Only the user of this process can connect: the server listens only on a socket in its private folder. The server ends with
 * this process, however it ends. Remains of an earlier server are removed.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  if (!options.isRestoring) requireRestored(options.dataDir);
  const home = join(options.dataDir, "postgres");
  mkdirSync(home, { recursive: true, mode: 0o700 });
  chmodSync(home, 0o700);
  const unlock = options.isRestoring ? () => {} : lockFolder(home);
  let socket: SocketFolder | undefined;
  try {
    await endOrphans(clusterName(home));
    if (options.isArchiving !== undefined) setArchiving(options.dataDir, options.isArchiving);
    const place = locate(realpathSync(home), options);
    if (!existsSync(place.cluster)) await createCluster(place, options);
    removeStaleLocks(place.cluster);
    socket = socketFolder(place.cluster);
    const server = await startWhenFree({
      file: join(place.native, "bin", "postgres"),
      args: ["-D", place.user.nameOf(place.cluster), ...settings(clusterName(home), options)],
      folder: place.cluster,
      user: place.user,
      log: options.log,
    });
    return embedded(server, socket, unlock);
  } catch (error) {
    socket?.remove();
    unlock();
    throw error;
  }
}

/** Refuses a folder that holds a part of a backup. */
function requireRestored(dataDir: string): void {
  if (!existsSync(restoreMarkFile(dataDir))) return;
  throw fail("FAILED_PRECONDITION", {
    public: `The restore of the data folder ${dataDir} did not end. Run the same command again: service backup restore --to ${dataDir} …`,
  });
}

/** Makes this process the only owner of a data folder's server until it calls the returned function or ends. */
export function lockEmbedded(dataDir: string): () => void {
  const home = join(dataDir, "postgres");
  mkdirSync(home, { recursive: true, mode: 0o700 });
  return lockFolder(home);
}

/** Removes the cluster of a locked folder whose restore was interrupted, with the server that may still run on it. */
export async function removeEmbedded(dataDir: string): Promise<void> {
  const home = join(dataDir, "postgres");
  await endOrphans(clusterName(home));
  for (const name of readdirSync(home)) {
    if (name.startsWith("lock") || name === "owner") continue;
    rmSync(join(home, name), { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Starts the server after the last one has released its shared memory: an ending process has no command line, but still its memory. */
async function startWhenFree(program: Program): Promise<Server> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startServer(program);
    } catch (error) {
      if (attempt === 50 || !(error as Error).message.includes("pre-existing shared memory block")) throw error;
      await delay(100);
    }
  }
}

function embedded(server: Server, socket: SocketFolder, unlock: () => void): Embedded {
  const exited = server.exited.then((reason) => {
    socket.remove();
    unlock();
    return reason;
  });
  return {
    url: urlOf(socket),
    pid: server.pid,
    exited,
    stop: async () => {
      await server.stop();
      await exited;
    },
  };
}

/** The server of a data folder that another process has started. */
export function findRunningEmbedded(dataDir: string): { readonly url: string; close(): void } {
  const socket = socketFolder(realpathSync(join(dataDir, "postgres", "cluster")));
  return { url: urlOf(socket), close: socket.remove };
}

function urlOf({ path }: SocketFolder): string {
  return `postgres://switchyard@${encodeURIComponent(path)}/switchyard`;
}

function locate(home: string, options: EmbeddedOptions): Place {
  const cluster = join(home, "cluster");
  const user = serverUser(cluster, { userNamespaces: options.userNamespaces ?? true });
  return { home, cluster, native: reachable(nativeFolder(), user), user };
}

/** Creates the cluster under a temporary name and renames it when it is complete, so an interrupted first start leaves nothing. */
async function createCluster({ home, cluster, native, user }: Place, options: EmbeddedOptions): Promise<void> {
  for (const name of readdirSync(home)) {
    if (!name.startsWith("new-")) continue;
    await endOccupants(join(home, name));
    rmSync(join(home, name), { recursive: true, force: true, maxRetries: 5 });
  }
  const folder = join(home, `new-${randomBytes(6).toString("hex")}`);
  mkdirSync(folder, { mode: 0o700 });
  if (user.id) lchownSync(folder, user.id.uid, user.id.gid);
  const name = user.nameOf(folder);
  const sync = options.durable === false ? ["--no-sync"] : [];
  // Compares by code point, so that indexes are portable between machines, with support for non-ASCII letters.
  const locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
  const access = ["--username=switchyard", "--auth-local=trust", "--auth-host=reject"];
  await runProgram({
    file: join(native, "bin", "initdb"),
    args: ["-D", name, "--encoding=UTF8", ...locale, ...access, ...sync, "--no-instructions"],
    folder,
    user,
  });
  await runProgram({
    file: join(native, "bin", "postgres"),
    args: ["--single", "-D", name, ...flag("fsync", options.durable !== false), "postgres"],
    folder,
    user,
    input: "create database switchyard\n",
  });
  renameSync(folder, cluster);
  syncFolder(home);
}

/** All settings are on the command line, so a file in the cluster cannot open the server to other users. */
function settings(clusterName: string, options: EmbeddedOptions): string[] {
  const durable = options.durable ?? true;
  return Object.entries({
    cluster_name: clusterName,
    listen_addresses: "",
    unix_socket_directories: ".",
    unix_socket_permissions: "0700",
    port: 5432,
    max_connections: options.maxConnections ?? 100,
    shared_buffers: "128MB",
    // Parallel queries need more shared memory than containers have by default, and do not help short queries.
    max_parallel_workers_per_gather: 0,
    jit: false,
    fsync: durable,
    synchronous_commit: durable,
    full_page_writes: durable,
    log_destination: "stderr",
    logging_collector: false,
    log_checkpoints: false,
    // Errors are returned to the client; in the log they would expose the statement's data.
    log_min_messages: "log",
    log_min_error_statement: "panic",
    log_timezone: "UTC",
    timezone: "UTC",
    ...archivingSettings(options.dataDir),
    ...options.settings,
  }).flatMap(([name, value]) => flag(name, value));
}

function flag(name: string, value: string | number | boolean): string[] {
  return ["-c", `${name}=${typeof value === "boolean" ? (value ? "on" : "off") : value}`];
}

/** The name is the same for every path to the folder, and different for a copy of it. */
function clusterName(home: string): string {
  const { dev, ino } = statSync(home, { bigint: true });
  return `switchyard-${createHash("sha256").update(`${dev}:${ino}`).digest("hex").slice(0, 16)}`;
}

/** Removes a stale lock file: PostgreSQL trusts its process id, even if another program has it now. */
function removeStaleLocks(cluster: string): void {
  for (const name of ["postmaster.pid", ".s.PGSQL.5432.lock", ".s.PGSQL.5432"])
    rmSync(join(cluster, name), { force: true });
}

interface SocketFolder {
  readonly path: string;
  remove(): void;
}

/** A path to the server's socket within the system's limit of about 100 bytes. */
function socketFolder(cluster: string): SocketFolder {
  if (Buffer.byteLength(join(cluster, ".s.PGSQL.5432")) < 100) return { path: cluster, remove: () => {} };
  const folder = mkdtempSync(join(tmpdir(), "sy-"));
  const path = join(folder, "s");
  symlinkSync(cluster, path);
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, "r");
  fsyncSync(handle);
  closeSync(handle);
}
