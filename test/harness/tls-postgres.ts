import { chownSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbedded } from "../../src/platform/db/embedded/embedded.ts";
import { type Authority, createAuthority } from "./certificates.ts";
import { freePort } from "./free-port.ts";

/** A PostgreSQL server that accepts only TCP connections with TLS. */
export interface TlsServer {
  /** Without TLS parameters. The certificate is only for 127.0.0.1. */
  readonly url: string;
  /** Files with the certificate of the server's authority, and of an unrelated one. */
  readonly rootFile: string;
  readonly otherRootFile: string;
  stop(): Promise<void>;
}

/** Starts a server whose certificate is signed by a test authority. */
export async function startTlsServer(): Promise<TlsServer> {
  const dataDir = await mkdtemp(join(tmpdir(), "switchyard-tls-"));
  const cluster = join(dataDir, "postgres", "cluster");
  const authority = await createAuthority("CN=Database authority");
  const port = await freePort();
  // The first start creates the cluster.
  await (await startEmbedded({ dataDir, durable: false })).stop();
  const { cert, key } = await authority.issue("CN=127.0.0.1", { addresses: ["127.0.0.1"] });
  writeInside(cluster, "server.crt", cert);
  writeInside(cluster, "server.key", key);
  writeInside(cluster, "pg_hba.conf", "local all all trust\nhostssl all all 127.0.0.1/32 trust\n");
  const server = await startEmbedded({
    dataDir,
    durable: false,
    settings: {
      listen_addresses: "127.0.0.1",
      port: String(port),
      ssl: "on",
      ssl_cert_file: "server.crt",
      ssl_key_file: "server.key",
    },
  });
  return {
    url: `postgres://switchyard@127.0.0.1:${port}/switchyard`,
    rootFile: writeRoot(dataDir, "root.crt", authority),
    otherRootFile: writeRoot(dataDir, "other.crt", await createAuthority("CN=Another authority")),
    async stop() {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Writes a file that only the cluster's owner can read. */
function writeInside(cluster: string, name: string, text: string): void {
  const file = join(cluster, name);
  writeFileSync(file, text, { mode: 0o600 });
  const { uid, gid } = statSync(cluster);
  chownSync(file, uid, gid);
}

function writeRoot(folder: string, name: string, { cert }: Authority): string {
  const file = join(folder, name);
  writeFileSync(file, cert);
  return file;
}
