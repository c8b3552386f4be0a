import { readCluster } from "./backup-content.ts";
import type { BackupTarget } from "./backup-target.ts";
import { type Backup, keysName, objectFolder, objectListName } from "./catalog.ts";
import { walFolder } from "./wal-segment.ts";

/** What was read and found whole. */
export interface VerificationReport {
  readonly files: number;
  readonly segments: number;
  readonly objects: number;
}

/** Reads everything that a restore of a backup may need. Throws at the first thing that is missing or damaged. */
export async function verifyBackup(target: BackupTarget, backup: Backup): Promise<VerificationReport> {
  const { id, systemId, timeline } = backup.manifest;
  const files = await readCluster(target, backup, {
    folder: async () => {},
    file: async (_, content) => {
      for await (const _ of content);
    },
  });
  await target.read(keysName(id));
  for (const name of backup.segments) await target.read(walFolder(systemId, timeline) + name);
  const listed = (await target.read(objectListName(id))).toString();
  const objects = listed === "" ? [] : listed.split("\n");
  for (const key of objects) await target.read(objectFolder(systemId, backup.manifest.key) + key);
  return { files, segments: backup.segments.length, objects: objects.length };
}
