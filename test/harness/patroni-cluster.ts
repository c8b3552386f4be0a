import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { serverUser } from "../../src/platform/db/embedded/embedded-user.ts";
import { findProgram, firstLine, type Program } from "./debian-program.ts";
import { freePort } from "./free-port.ts";
import { agentConfig, etcdArgs, type Ports, proxyConfigOf, type Replication } from "./patroni-config.ts";
import { installedPostgres, newServerFolder } from "./postgres-server.ts";
import { isAlive, signalAll, withDescendants } from "./process-tree.ts";
import { until } from "./until.ts";

/** A PostgreSQL server with its Patroni agent. */
export interface Member {
  readonly name: string;
  /** The URL of the server's maintenance database, without the proxy. */
  readonly url: string;
  /** Starts the agent, which starts the server. */
  start(): void;
  /** Kills the server with all its processes, as the machine's failure would; `start` brings both back. */
  kill(): Promise<void>;
  /** Kills the main process of the server only. The agent restarts it, or another member takes over. */
  killPostmaster(): void;
  /** Suspends the agent and all processes of the server: connections stay open and get no response. */
  freeze(): void;
  thaw(): void;
}

/** Three PostgreSQL servers under Patroni with etcd, and HAProxy, which leads to the primary. */
export interface PatroniCluster {
  /** The URL of the primary's maintenance database, through the proxy. */
  readonly url: string;
  readonly members: readonly Member[];
  /** The members by their roles; undefined while there is no primary with a synchronous standby and two others that stream. */
  roles(): Promise<Roles | undefined>;
  freezeStore(): void;
  thawStore(): void;
  stop(): Promise<void>;
}

export interface Roles {
  readonly primary: Member;
  readonly standbys: readonly Member[];
}

interface Programs {
  readonly etcd: Program;
  readonly patroni: Program;
  readonly haproxy: Program;
  /** The folder with PostgreSQL's programs. */
  readonly postgres: string;
}

let reason = "";

/** Why `startPatroniCluster` returned undefined. */
export function whyNoPatroni(): string {
  return reason;
}

async function findPrograms(): Promise<Programs | undefined> {
  try {
    return {
      etcd: await findProgram({ cache: "etcd-packages", names: ["etcd"], packages: ["etcd-server"] }),
      patroni: await findProgram({ cache: "patroni-packages", names: ["patroni"], packages: ["patroni"] }),
      haproxy: await findProgram({
        ...{ cache: "haproxy-packages", names: ["haproxy"], packages: ["haproxy"] },
        ...{ folders: ["usr/sbin"], versionFlag: "-v" },
      }),
      postgres: await findPostgres(),
    };
  } catch (error) {
    reason = `Patroni, etcd, HAProxy and PostgreSQL 15 are neither on the PATH nor to be had from packages: ${firstLine(error)}`;
    console.error(reason);
    return undefined;
  }
}

async function findPostgres(): Promise<string> {
  const installed = installedPostgres();
  if (installed !== undefined) return join(installed, "bin");
  const folders = ["usr/lib/postgresql/15/bin"];
  const names = ["pg_basebackup"];
  return dirname(
    (await findProgram({ cache: "postgresql-packages", names, packages: ["postgresql-15"], folders })).path,
  );
}

/** Starts a cluster; returns undefined when its programs cannot be had. */
export async function startPatroniCluster(replication: Replication): Promise<PatroniCluster | undefined> {
  const programs = await findPrograms();
  return programs && start(programs, replication);
}

const names = ["pg1", "pg2", "pg3"];

async function start(programs: Programs, replication: Replication): Promise<PatroniCluster> {
  const folder = await newServerFolder();
  const children = new Set<ChildProcess>();
  const user = serverUser(folder, { userNamespaces: true });
  const logs = openSync(join(folder, "log"), "a");
  const run = ({ path, env }: Program, args: readonly string[], more: Record<string, string> = {}) => {
    const child = spawn(
      user.prefix[0] ?? path,
      [...user.prefix.slice(1), ...(user.prefix.length > 0 ? [path] : []), ...args],
      {
        ...user.id,
        cwd: folder,
        env: { ...env, ...more, LC_ALL: "C", PGSSLMODE: "disable" },
        stdio: ["ignore", logs, logs],
      },
    );
    children.add(child);
    child.once("exit", () => children.delete(child));
    return child;
  };
  const [etcdPort, peerPort, proxyPort] = [await freePort(), await freePort(), await freePort()];
  const etcd = run(programs.etcd, etcdArgs(folder, etcdPort, peerPort), { ETCD_UNSUPPORTED_ARCH: "arm64" });
  const ports = new Map<string, Ports>();
  for (const name of names) ports.set(name, { postgres: await freePort(), agent: await freePort() });

  const members = await Promise.all(
    [...ports].map(async ([name, own]): Promise<Member> => {
      const home = join(folder, name);
      await mkdir(home, { mode: 0o700 });
      const config = join(home, "patroni.json");
      await writeFile(
        config,
        JSON.stringify(agentConfig({ name, home, own, etcdPort, replication, bin: programs.postgres })),
      );
      let agent: ChildProcess | undefined;
      const postmaster = () => postmasterOf(home);
      const all = () => [agent?.pid, ...withDescendants(postmaster())].filter((pid) => pid !== undefined);
      return {
        name,
        url: `postgres://switchyard@127.0.0.1:${own.postgres}/postgres`,
        start() {
          agent = run(programs.patroni, [config]);
        },
        async kill() {
          const pids = all();
          signalAll(pids, "SIGKILL");
          await until(() => pids.every((pid) => !isAlive(pid)));
        },
        killPostmaster: () => signalAll([postmaster()!], "SIGKILL"),
        freeze: () => signalAll(all(), "SIGSTOP"),
        thaw: () => signalAll(all(), "SIGCONT"),
      };
    }),
  );
  const proxyConfig = join(folder, "haproxy.cfg");
  await writeFile(proxyConfig, proxyConfigOf(proxyPort, ports));
  run(programs.haproxy, ["-db", "-f", proxyConfig]);
  // A crashed test must not leave a server running.
  const killAll = () => {
    for (const child of children) child.kill("SIGKILL");
    for (const name of names) signalAll(withDescendants(postmasterOf(join(folder, name))), "SIGKILL");
  };
  process.once("exit", killAll);
  for (const member of members) member.start();
  return {
    url: `postgres://switchyard@127.0.0.1:${proxyPort}/postgres`,
    members,
    async roles() {
      for (const { agent } of ports.values()) {
        const found = rolesOf(await readMembers(agent), members, replication);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    freezeStore: () => void etcd.kill("SIGSTOP"),
    thawStore: () => void etcd.kill("SIGCONT"),
    async stop() {
      process.off("exit", killAll);
      const exits = [...children].map((child) => once(child, "exit"));
      killAll();
      await Promise.all(exits);
      await until(() => names.every((name) => !isAlive(postmasterOf(join(folder, name)))));
      await rm(folder, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

interface MemberState {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  /** The bytes that a standby has not received; "unknown" while it is unknown. */
  readonly lag?: number | "unknown";
}

/** A standby that lacks more was not connected lately. */
const lagMax = 2 ** 24;

async function readMembers(agentPort: number): Promise<readonly MemberState[]> {
  try {
    const response = await fetch(`http://127.0.0.1:${agentPort}/cluster`, { signal: AbortSignal.timeout(1000) });
    return ((await response.json()) as { members: MemberState[] }).members;
  } catch {
    return [];
  }
}

function rolesOf(
  states: readonly MemberState[],
  members: readonly Member[],
  { isSynchronous }: Replication,
): Roles | undefined {
  const running = states.filter(({ state }) => state === "running" || state === "streaming");
  const leader = running.find(({ role }) => role === "leader");
  const standbys = running.filter((each) => each !== leader && Number(each.lag) < lagMax);
  if (leader === undefined || standbys.length < names.length - 1) return undefined;
  if (isSynchronous && !standbys.some(({ role }) => role === "sync_standby")) return undefined;
  const memberOf = ({ name }: MemberState) => members.find((member) => member.name === name)!;
  // The synchronous one first.
  const sorted = standbys.toSorted((a, b) => Number(b.role === "sync_standby") - Number(a.role === "sync_standby"));
  return { primary: memberOf(leader), standbys: sorted.map(memberOf) };
}

function postmasterOf(home: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(join(home, "data/postmaster.pid"), "utf8"), 10);
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("postgres") ? pid : undefined;
  } catch {
    return undefined;
  }
}
