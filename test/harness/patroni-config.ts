import { join } from "node:path";

/** How long a primary keeps its role without renewing it, in seconds. */
export const ttlS = 20;

/** What the agents agree on. */
export interface Replication {
  /** Whether a commit waits for a standby, and only standbys that have all commits take over. */
  readonly isSynchronous: boolean;
}

/** The ports of a member. */
export interface Ports {
  readonly postgres: number;
  readonly agent: number;
}

/** The command line of the store that the agents share. */
export function etcdArgs(folder: string, port: number, peerPort: number): string[] {
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  return [
    ...["--enable-v2", "--name", "store", "--data-dir", join(folder, "etcd"), "--log-level", "error"],
    ...["--listen-client-urls", client, "--advertise-client-urls", client],
    ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", `store=${peer}`],
  ];
}

interface AgentParts {
  readonly name: string;
  readonly home: string;
  readonly own: Ports;
  readonly etcdPort: number;
  readonly replication: Replication;
  readonly bin: string;
}

/** The configuration of an agent; JSON is YAML. */
export function agentConfig({ name, home, own, etcdPort, replication: { isSynchronous }, bin }: AgentParts) {
  const local = (port: number) => `127.0.0.1:${port}`;
  const login = { username: "switchyard" };
  return {
    scope: "switchyard",
    name,
    restapi: { listen: local(own.agent), connect_address: local(own.agent) },
    // With etcd3, an agent of this version that was frozen takes the lock back from its successor, whose commits are then lost.
    etcd: { host: local(etcdPort) },
    bootstrap: {
      dcs: {
        ...{ ttl: ttlS, loop_wait: 2, retry_timeout: 5, maximum_lag_on_failover: 2 ** 40 },
        ...{ synchronous_mode: isSynchronous, synchronous_mode_strict: isSynchronous },
        postgresql: { use_pg_rewind: true, parameters: serverSettings },
      },
      initdb: [{ encoding: "UTF8" }, { locale: "C" }, "no-sync"],
    },
    postgresql: {
      ...{ listen: local(own.postgres), connect_address: local(own.postgres), bin_dir: bin },
      ...{ data_dir: join(home, "data"), pgpass: join(home, "pgpass") },
      parameters: { unix_socket_directories: home },
      authentication: { superuser: login, replication: login, rewind: login },
      pg_hba: ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"],
    },
  };
}

const serverSettings = {
  max_connections: 200,
  // The machine itself does not crash.
  fsync: "off",
  shared_buffers: "64MB",
  wal_keep_size: "256MB",
  // A standby follows the new primary at once.
  wal_retrieve_retry_interval: "200ms",
};

/** The configuration of the proxy, which asks the agents whose server is the primary. */
export function proxyConfigOf(port: number, ports: ReadonlyMap<string, Ports>): string {
  const servers = [...ports].map(
    ([name, { postgres, agent }]) => `  server ${name} 127.0.0.1:${postgres} check port ${agent}`,
  );
  return `
global
  maxconn 1000
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 1s
listen primary
  bind 127.0.0.1:${port}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join("\n")}
`;
}
