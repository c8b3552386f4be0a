import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { openReplication } from "../db/sql/replication.ts";
import type { BackupTarget } from "./backup-target.ts";
import { type BackupManifest, fileListName, keysName, manifestName, objectListName, partName } from "./catalog.ts";
import type { ObjectCopies } from "./object-copies.ts";

/** What is backed up, and where to. */
export interface BackupSource {
  /** The database, on a running server. */
  readonly url: string;
  readonly dataDir: string;
  readonly objects: ObjectCopies | undefined;
  /** The version of the service. */
  readonly version: string;
  readonly now: () => number;
}

/** The cluster is stored in parts of this size. */
const partBytes = 4 * 2 ** 20;

/**
 * Stores a backup of a running server: the cluster with the log that makes it consistent, the generated keys and the objects. The
 * manifest comes last, so that an interrupted backup is none.
 */
export async function createBackup(
  source: BackupSource,
  target: BackupTarget,
  signal: AbortSignal,
): Promise<BackupManifest> {
  const startedAt = new Date(source.now());
  const id = startedAt.toISOString().replaceAll(/[-:.]/g, "");
  const server = await openReplication(source.url);
  const end = () => void server.close();
  signal.addEventListener("abort", end);
  try {
    signal.throwIfAborted();
    const identity = await server.identify();
    // Before the cluster: an object that is removed meanwhile is kept for too long, and never for too short a time.
    const listed = (await source.objects?.copyNew()) ?? [];
    await target.write(objectListName(id), Buffer.from(listed.join("\n")), startedAt.getTime());
    const parts = createPartWriter(id, target, startedAt.getTime());
    const files: Buffer[] = [];
    const range = await server.copyCluster({ data: parts.add, manifest: (chunk) => void files.push(chunk) });
    const endedAt = new Date(source.now());
    const stored = await parts.end();
    await target.write(fileListName(id), Buffer.concat(files), endedAt.getTime());
    await target.write(keysName(id), await readKeys(source.dataDir), endedAt.getTime());
    // After the cluster: every object that its rows refer to is there.
    await source.objects?.copyNew();
    const manifest: BackupManifest = {
      ...{ id, version: source.version, postgres: await readVersion(source.dataDir), ...identity, ...range, ...stored },
      ...{ startedAt: startedAt.toISOString(), endedAt: endedAt.toISOString() },
      ...(target.key !== undefined && { key: target.key }),
    };
    signal.throwIfAborted();
    await target.write(manifestName(id), Buffer.from(JSON.stringify(manifest)), endedAt.getTime());
    return manifest;
  } finally {
    signal.removeEventListener("abort", end);
    await server.close();
  }
}

function createPartWriter(id: string, target: BackupTarget, timeMs: number) {
  let parts = 0;
  let bytes = 0;
  let storedBytes = 0;
  let chunks: Buffer[] = [];
  let size = 0;
  async function flush(): Promise<void> {
    const content = Buffer.concat(chunks, size);
    chunks = [];
    size = 0;
    parts++;
    storedBytes += await target.write(partName(id, parts), content, timeMs);
  }
  return {
    async add(chunk: Buffer): Promise<void> {
      bytes += chunk.length;
      size += chunk.length;
      chunks.push(chunk);
      if (size >= partBytes) await flush();
    },
    async end() {
      if (size > 0) await flush();
      return { parts, bytes, storedBytes };
    },
  };
}

/** The keys that the service has generated: files of the data folder, by name. */
async function readKeys(dataDir: string): Promise<Buffer> {
  const names = (await readdir(dataDir)).filter((name) => name.endsWith(".key"));
  const keys = await Promise.all(names.map(async (name) => [name, await readFile(join(dataDir, name), "utf8")]));
  return Buffer.from(JSON.stringify(Object.fromEntries(keys)));
}

async function readVersion(dataDir: string): Promise<string> {
  return (await readFile(join(dataDir, "postgres", "cluster", "PG_VERSION"), "utf8")).trim();
}
