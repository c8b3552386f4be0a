import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { BoundedCache } from "../cache/bounded-cache.ts";
import { type ObjectStore, ObjectStoreError, requireKey } from "./object-store.ts";
import { verifiedBody } from "./verified-body.ts";

/**
 * Stores objects as files. A body is written to a temporary file, which is synchronized and then renamed, so that a file
 * under its final name is complete even after a power failure. Nodes that share the directory share the objects.
 */
export function createFileStore(directory: string): ObjectStore {
  const root = resolve(directory, "stored");
  const temporary = resolve(directory, "incoming");
  const durable = createDurableDirectories(root);

  return {
    async put(key, body, expected, signal) {
      const path = pathOf(root, key);
      await mkdir(temporary, { recursive: true });
      const incoming = join(temporary, randomUUID());
      try {
        await writeFile(incoming, verifiedBody(body, expected), signal);
        signal.throwIfAborted();
        await durable.create(dirname(path));
        await rename(incoming, path);
        await synchronize(dirname(path));
      } catch (error) {
        await rm(incoming, { force: true }).catch(() => {});
        throw isSystemError(error) ? new ObjectStoreError("The file cannot be stored.", { cause: error }) : error;
      }
    },
    async stat(key) {
      const found = await absentAsUndefined(stat(pathOf(root, key)));
      return found && { sizeBytes: found.size };
    },
    async read(key, { firstByte, byteCount }) {
      const file = await absentAsUndefined(open(pathOf(root, key)));
      if (file === undefined) return undefined;
      const end = firstByte + byteCount - 1;
      const stream = file.createReadStream({ start: firstByte, end, highWaterMark: partBytes });
      return { [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator](), close: () => stream.destroy() };
    },
    async *list(prefix) {
      const entries = await absentAsUndefined(readdir(join(root, prefix), { recursive: true, withFileTypes: true }));
      for (const entry of entries ?? []) {
        if (!entry.isFile()) continue;
        const path = join(entry.parentPath, entry.name);
        const found = await absentAsUndefined(stat(path));
        if (found === undefined) continue;
        yield { key: relative(root, path).replaceAll(sep, "/"), sizeBytes: found.size, storedAtMs: found.mtimeMs };
      }
    },
    async remove(key) {
      const path = pathOf(root, key);
      await absentAsUndefined(rm(path));
      // The removal of a file need not be durable: whoever asked for it asks again until it has recorded the removal.
    },
    async removeAbandonedWrites(beforeMs) {
      let removed = 0;
      for (const name of (await absentAsUndefined(readdir(temporary))) ?? []) {
        const path = join(temporary, name);
        const found = await absentAsUndefined(stat(path));
        // A write in progress changes the time of its file.
        if (found === undefined || found.mtimeMs >= beforeMs) continue;
        await absentAsUndefined(rm(path));
        removed++;
      }
      return removed;
    },
    close() {},
  };
}

const partBytes = 64 * 1024;

function pathOf(root: string, key: string): string {
  requireKey(key);
  return join(root, key);
}

async function writeFile(path: string, body: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    for await (const part of body) {
      signal.throwIfAborted();
      await writeAll(file, part);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

async function writeAll(file: FileHandle, part: Uint8Array): Promise<void> {
  for (let at = 0; at < part.length; ) at += (await file.write(part, at)).bytesWritten;
}

/**
 * Creates directories whose entries survive a power failure. A directory that this process has not synchronized yet may
 * have been created by another one that has not done so either.
 */
function createDurableDirectories(root: string) {
  const known = new BoundedCache<string, true>(10_000);
  return {
    async create(path: string): Promise<void> {
      if (known.get(path)) return;
      await mkdir(path, { recursive: true, mode: 0o700 });
      for (let at = path; at.length >= root.length; at = dirname(at)) await synchronize(dirname(at));
      known.set(path, true);
    },
  };
}

async function synchronize(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function absentAsUndefined<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new ObjectStoreError("The file cannot be accessed.", { cause: error });
  }
}

function isSystemError(error: unknown): boolean {
  return typeof (error as NodeJS.ErrnoException).syscall === "string";
}
