import { buffer } from "node:stream/consumers";
import type { ObjectStore } from "../objects/index.ts";
import type { BackupTarget } from "./backup-target.ts";
import { objectFolder } from "./catalog.ts";

/** The large objects in files, and their copies in the backup store. */
export interface ObjectCopies {
  /** Copies the objects that were not copied yet. Returns the keys of all that are there now. */
  copyNew(): Promise<readonly string[]>;
}

/** Objects never change, so each is copied once. `systemId` names the database that refers to them. */
export function createObjectCopies(store: ObjectStore, target: BackupTarget, systemId: string): ObjectCopies {
  const folder = objectFolder(systemId, target.key);
  let copied: Set<string> | undefined;
  return {
    async copyNew() {
      copied ??= new Set((await Array.fromAsync(target.list(folder))).map(({ key }) => key.slice(folder.length)));
      const present = new Set<string>();
      for await (const { key, sizeBytes, storedAtMs } of store.list("")) {
        if (!copied.has(key)) {
          const content = await readObject(store, key, sizeBytes);
          // It may have been removed meanwhile.
          if (content === undefined) continue;
          await target.write(folder + key, content, storedAtMs);
          copied.add(key);
        }
        present.add(key);
      }
      // Forgets what was removed: retention removes its copy, and an import may bring the object back.
      copied = present;
      return [...present];
    },
  };
}

async function readObject(store: ObjectStore, key: string, sizeBytes: number): Promise<Buffer | undefined> {
  if (sizeBytes === 0) return Buffer.alloc(0);
  const reader = await store.read(key, { firstByte: 0, byteCount: sizeBytes }, new AbortController().signal);
  return reader && buffer(reader);
}
