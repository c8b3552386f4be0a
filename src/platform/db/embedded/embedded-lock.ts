import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fail } from "../../../errors/index.ts";

const SQLITE_BUSY = 5;

/** Makes this process the folder's only owner until the returned function is called or the process ends, however it ends. */
export function lockFolder(folder: string): () => void {
  // SQLite locks the file in the kernel. Unlike a file that merely names a process, such a lock is never stale, cannot
  // be taken by two at once, and holds between containers that share a volume but do not see each other's processes.
  const lock = new DatabaseSync(join(folder, "lock"));
  const owner = join(folder, "owner");
  try {
    lock.exec("begin exclusive");
  } catch (cause) {
    lock.close();
    if ((cause as { errcode?: number }).errcode !== SQLITE_BUSY) throw cause;
    throw fail("FAILED_PRECONDITION", { public: `The data folder ${folder} is in use by ${ownerOf(owner)}.`, cause });
  }
  // Only for people: the file beside the lock says who holds it.
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
