import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serverUser } from "../../src/platform/db/embedded/embedded-user.ts";
import { socketHost } from "../../src/platform/db/embedded/socket-host.ts";
import { findProgram, type Program } from "./debian-program.ts";
import { until } from "./until.ts";

export type PoolMode = "session" | "transaction";

/** A real PgBouncer before the server of a database URL. */
export interface Pooler {
  /** The URL of a database of the server, through the pooler. */
  through(databaseUrl: string): string;
  stop(): Promise<void>;
}

/** Environment variable with the path of a PgBouncer to use instead of Debian's. */
const PROGRAM = "SWITCHYARD_TEST_PGBOUNCER";

/** Finds a PgBouncer: the named one, one on the PATH, or Debian's unpacked. */
export async function findPgBouncer(): Promise<Program> {
  const path = process.env[PROGRAM];
  if (path !== undefined) return { path, env: process.env };
  const names = ["pgbouncer"];
  return findProgram({ cache: "pgbouncer-packages", names, packages: names, folders: ["usr/sbin"] });
}

/** Whether it keeps the prepared statements of its clients in transaction mode, as versions since 1.21 do. */
export function keepsStatements({ path, env }: Program): boolean {
  const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(execFileSync(path, ["--version"], { env, encoding: "utf8" }))!;
  return Number(major) > 1 || Number(minor) >= 21;
}

export async function startPgBouncer(serverUrl: string, mode: PoolMode, poolSize = 100): Promise<Pooler> {
  const { path, env } = await findPgBouncer();
  const folder = await mkdtemp(join(tmpdir(), "pgbouncer-"));
  const user = serverUser(folder, { userNamespaces: true });
  const { username } = new URL(serverUrl);
  const [users, settings] = [join(folder, "users.txt"), join(folder, "pgbouncer.ini")];
  await writeFile(users, `"${decodeURIComponent(username)}" ""\n`);
  await writeFile(
    settings,
    `[databases]
* = host=${socketHost(serverUrl)} port=5432
[pgbouncer]
listen_port = 5432
unix_socket_dir = ${folder}
auth_type = trust
auth_file = ${users}
pool_mode = ${mode}
default_pool_size = ${poolSize}
max_client_conn = 2000
server_idle_timeout = 1
${keepsStatements({ path, env }) ? "max_prepared_statements = 250" : ""}
`,
  );
  const [file, ...args] = [...user.prefix, path, "-q", settings];
  const child: ChildProcess = spawn(file!, args, { env, cwd: folder, ...user.id, stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  // A crashed test must not leave a pooler running.
  process.once("exit", () => child.kill("SIGKILL"));
  await until(() => {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended before it was ready:\n${output}`);
    return existsSync(join(folder, ".s.PGSQL.5432"));
  });
  return {
    through: (databaseUrl) => Object.assign(new URL(databaseUrl), { hostname: encodeURIComponent(folder) }).href,
    async stop() {
      const exit = once(child, "exit");
      if (child.exitCode === null && child.kill("SIGKILL")) await exit;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
