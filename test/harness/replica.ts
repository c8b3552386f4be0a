import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startEmbedded } from "../../src/platform/db/embedded/embedded.ts";
import { nativeFolder } from "../../src/platform/db/embedded/embedded-binaries.ts";
import { reachable, serverUser } from "../../src/platform/db/embedded/embedded-user.ts";
import { socketHost } from "../../src/platform/db/embedded/socket-host.ts";
import { migrate } from "../../src/platform/db/migrate.ts";
import { connect, newServerFolder, type TestSql } from "./postgres-server.ts";
import { signalAll, withDescendants } from "./process-tree.ts";
import { until } from "./until.ts";

/** A migrated PostgreSQL with a streaming replica, for one test file. */
export interface ReplicatedServer {
  readonly url: string;
  readonly replicaUrl: string;
  /** Makes the replica lag until `resume`: it receives changes and does not show them. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Kills the replica; `start` brings it back. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Suspends the replica: its connections stay open and get no response. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

export async function startReplicatedServer(): Promise<ReplicatedServer> {
  const folder = await newServerFolder();
  const settings = { synchronous_commit: "on", wal_writer_delay: "10ms" };
  const startPrimary = () => startEmbedded({ dataDir: join(folder, "primary"), durable: false, settings });
  const first = await startPrimary();
  await migrate(first.url, join(import.meta.dirname, "../../migrations"));
  await first.stop();
  const cluster = join(folder, "replica");
  await cp(join(folder, "primary/postgres/cluster"), cluster, { recursive: true });
  await writeFile(join(cluster, "standby.signal"), "");
  const primary = await startPrimary();

  const replicaUrl = `postgres://switchyard@${encodeURIComponent(cluster)}/switchyard`;
  const user = serverUser(cluster, { userNamespaces: true });
  const file = join(reachable(nativeFolder(), user), "bin/postgres");
  const options = {
    ...{ listen_addresses: "", unix_socket_directories: ".", fsync: "off" },
    ...{ primary_conninfo: `host=${socketHost(primary.url)} user=switchyard`, wal_retrieve_retry_interval: "100ms" },
  };
  const words = [
    "-D",
    user.nameOf(cluster),
    ...Object.entries(options).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ];
  const [command, ...args] = [...user.prefix, file, ...words];
  let replica: ChildProcess | undefined;
  const end = () => replica?.kill("SIGKILL");
  // A crashed test must not leave a server running.
  process.once("exit", end);

  async function withReplica(work: (sql: TestSql) => Promise<unknown>): Promise<void> {
    const sql = connect(replicaUrl, 1);
    try {
      await work(sql);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }

  async function start(): Promise<void> {
    await rm(join(cluster, "postmaster.pid"), { force: true });
    replica = spawn(command!, args, { ...user.id, cwd: cluster, stdio: "ignore" });
    await until(() =>
      withReplica((sql) => sql`select 1`).then(
        () => true,
        () => false,
      ),
    );
  }

  async function kill(): Promise<void> {
    const exit = once(replica!, "exit");
    replica!.kill("SIGKILL");
    await exit;
  }

  await start();
  return {
    url: primary.url,
    replicaUrl,
    pause: () => withReplica((sql) => sql`select pg_wal_replay_pause()`),
    resume: () => withReplica((sql) => sql`select pg_wal_replay_resume()`),
    ...{ start, kill },
    freeze: () => signalAll(withDescendants(replica!.pid), "SIGSTOP"),
    thaw: () => signalAll(withDescendants(replica!.pid), "SIGCONT"),
    async stop() {
      process.off("exit", end);
      await kill();
      await primary.stop();
      await rm(folder, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}
