import { buffer } from "node:stream/consumers";
import type { ObjectStore } from "../objects/index.ts";
import type { BackupTarget } from "./backup-target.ts";
import { objectFolder } from "./catalog.ts";

/** The large objects in files, and their copies in the backup store. */
export interface ObjectCopies {
  readonly store: ObjectStore;
  /** Copies the objects that were not copied yet. */
  copyNew(): Promise<void>;
}

/** Objects never change, so each is copied once. `systemId` names the database that refers to them. */
export function createObjectCopies(store: ObjectStore, target: BackupTarget, systemId: string): ObjectCopies {
  const folder = objectFolder(systemId);
  let copied: Set<string> | undefined;
  return {
    store,
    async copyNew() {
      if (copied === undefined) {
        const known = await Array.fromAsync(target.list(folder));
        copied = new Set(known.map(({ key }) => key.slice(folder.length)));
      }
      for await (const { key, sizeBytes, storedAtMs } of store.list("")) {
        if (copied.has(key)) continue;
        const content = await readObject(store, key, sizeBytes);
        // It may have been removed meanwhile.
        if (content === undefined) continue;
        await target.write(folder + key, content, storedAtMs);
        copied.add(key);
      }
    },
  };
}

export async function objectKeysOf({ store }: ObjectCopies): Promise<string[]> {
  return (await Array.fromAsync(store.list(""))).map(({ key }) => key);
}

async function readObject(store: ObjectStore, key: string, sizeBytes: number): Promise<Buffer | undefined> {
  if (sizeBytes === 0) return Buffer.alloc(0);
  const reader = await store.read(key, { firstByte: 0, byteCount: sizeBytes }, new AbortController().signal);
  return reader && buffer(reader);
}
