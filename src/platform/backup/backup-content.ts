import { createHash } from "node:crypto";
import { fail } from "../../errors/index.ts";
import type { BackupTarget } from "./backup-target.ts";
import { type Backup, fileListName, partName } from "./catalog.ts";
import { readTar } from "./tar-reader.ts";

/** Receives the cluster of a backup. */
interface ClusterReceiver {
  folder(path: string): Promise<void>;
  file(path: string, content: AsyncIterable<Buffer>): Promise<void>;
}

interface ListedFile {
  readonly Path: string;
  readonly Size: number;
  readonly Checksum: string;
}

/** Reads the cluster of a backup, and compares every file with the digest that PostgreSQL has listed. Returns the number of files. */
export async function readCluster(target: BackupTarget, backup: Backup, receiver: ClusterReceiver): Promise<number> {
  const { id, parts } = backup.manifest;
  const list: { Files: ListedFile[] } = JSON.parse((await target.read(fileListName(id))).toString());
  const missing = new Map(list.Files.map((file) => [file.Path, file]));
  async function* content(): AsyncGenerator<Buffer> {
    for (let number = 1; number <= parts; number++) yield await target.read(partName(id, number));
  }
  for await (const entry of readTar(content())) {
    if (entry.isFolder) {
      await receiver.folder(entry.path);
      continue;
    }
    const hash = createHash("sha256");
    let bytes = 0;
    const hashed = async function* () {
      for await (const part of entry.content) {
        hash.update(part);
        bytes += part.length;
        yield part;
      }
    };
    await receiver.file(entry.path, hashed());
    const listed = missing.get(entry.path);
    // The list has no files of the log, which PostgreSQL checks record by record.
    if (listed === undefined && entry.path.startsWith("pg_wal/")) continue;
    if (listed?.Size !== bytes || listed.Checksum !== hash.digest("hex")) throw damaged(id, entry.path);
    missing.delete(entry.path);
  }
  const [lost] = missing.keys();
  if (lost !== undefined) throw damaged(id, lost);
  return list.Files.length;
}

function damaged(id: string, path: string): Error {
  return fail("FAILED_PRECONDITION", {
    public: `The backup ${id} is damaged: the file ${path} is not as PostgreSQL has listed it.`,
  });
}
