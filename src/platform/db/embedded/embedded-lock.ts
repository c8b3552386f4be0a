import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fail } from "../../../errors/index.ts";

const SQLITE_BUSY = 5;

/** Makes this process the only owner of the folder until it calls the returned function or ends. */
export function lockFolder(folder: string): () => void {
  // SQLite locks the file in the kernel. Unlike a file with a process id, such a lock is never stale, cannot be taken twice,
  // and works between containers that share a volume but do not see each other's processes.
  const lock = new DatabaseSync(join(folder, "lock"));
  const owner = join(folder, "owner");
  try {
    lock.exec("begin exclusive");
  } catch (cause) {
    lock.close();
    if ((cause as { errcode?: number }).errcode !== SQLITE_BUSY) throw cause;
    throw fail("FAILED_PRECONDITION", { public: `The data folder ${folder} is in use by ${ownerOf(owner)}.`, cause });
  }
  // For operators only: the file beside the lock names its owner.
  writeFileSync(owner, `process ${process.pid}, since ${new Date().toISOString()}\n`, { mode: 0o600 });
  return () => lock.close();
}

function ownerOf(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return "another process";
  }
}
