import { Failure, fail } from "../../errors/index.ts";
import type { BackupTarget } from "./backup-target.ts";
import { isSegment, nameOfSegment, segmentBefore, walFolder } from "./wal-segment.ts";

/** What a backup consists of. It is stored last, so that an interrupted backup has none. */
export interface BackupManifest {
  readonly id: string;
  /** The version of the service, and of PostgreSQL. */
  readonly version: string;
  readonly postgres: string;
  readonly systemId: string;
  readonly timeline: number;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly startLsn: string;
  readonly endLsn: string;
  readonly parts: number;
  /** The size of the cluster, and what is stored of it. */
  readonly bytes: number;
  readonly storedBytes: number;
  /** The fingerprint of the key that encrypts the backup. */
  readonly key?: string;
}

/** A backup, with the log that was archived after it. */
export interface Backup {
  readonly manifest: BackupManifest;
  /** The archived segments that follow the backup without a gap. */
  readonly segments: readonly string[];
  /** Everything that was acknowledged before this time can be restored. */
  readonly until: Date;
  /** The first missing segment, if later ones are archived. */
  readonly missing: string | undefined;
}

const idOf = (key: string): string => key.split("/")[1]!;
const backupFolder = (id: string): string => `base/${id}/`;
export const manifestName = (id: string): string => `${backupFolder(id)}manifest`;
/** The objects that there were when a backup began, a line each. */
export const objectListName = (id: string): string => `${backupFolder(id)}objects`;
/** PostgreSQL's list of the files of the cluster. */
export const fileListName = (id: string): string => `${backupFolder(id)}files`;
/** The generated keys. */
export const keysName = (id: string): string => `${backupFolder(id)}keys`;
export const partName = (id: string, number: number): string =>
  `${backupFolder(id)}part-${String(number).padStart(6, "0")}`;
/** The copies of objects, by the key that encrypts them: after a change of the key, all are copied again. */
export const objectFolder = (systemId: string, key: string | undefined): string =>
  `${objectFolders(systemId)}${key ?? "plain"}/`;
const objectFolders = (systemId: string): string => `objects/${systemId}/`;

/** All backups, and the ids of those whose manifest is damaged. */
interface Catalog {
  readonly backups: readonly Backup[];
  readonly damaged: readonly string[];
}

/** Reads all complete backups, the oldest first. */
export async function readBackups(target: BackupTarget): Promise<readonly Backup[]> {
  return (await readCatalog(target)).backups;
}

/** Reads all complete backups, the oldest first. One with a damaged manifest does not hide the others. */
export async function readCatalog(target: BackupTarget): Promise<Catalog> {
  const { manifests, damaged } = await readManifests(target);
  const archived = new Map<string, Set<string>>();
  for (const { systemId, timeline } of manifests) {
    const folder = walFolder(systemId, timeline);
    if (!archived.has(folder)) archived.set(folder, await readSegments(target, folder));
  }
  const backups = await Promise.all(
    manifests.map((manifest) =>
      addLog(target, manifest, archived.get(walFolder(manifest.systemId, manifest.timeline))!),
    ),
  );
  return { backups, damaged };
}

async function readManifests(target: BackupTarget) {
  const manifests: BackupManifest[] = [];
  const damaged: string[] = [];
  for await (const { key } of target.list("base/")) {
    if (!key.endsWith("/manifest")) continue;
    try {
      manifests.push(parseManifest(idOf(key), await target.read(key)));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      damaged.push(idOf(key));
    }
  }
  manifests.sort((a, b) => (a.endedAt < b.endedAt ? -1 : 1));
  return { manifests, damaged };
}

/** Reads a manifest. No key protects it, so its form is checked before anything relies on it. */
function parseManifest(id: string, content: Buffer): BackupManifest {
  let manifest: BackupManifest | undefined;
  try {
    manifest = JSON.parse(content.toString());
  } catch {}
  const isWhole =
    manifest?.id === id &&
    /^\d+$/.test(manifest.systemId) &&
    [manifest.timeline, manifest.parts, manifest.bytes, manifest.storedBytes].every((each) =>
      Number.isSafeInteger(each),
    ) &&
    [manifest.startLsn, manifest.endLsn].every((lsn) => /^[\dA-F]+\/[\dA-F]+$/i.test(lsn)) &&
    [manifest.startedAt, manifest.endedAt].every((time) => Date.parse(time) > 0);
  if (isWhole) return manifest!;
  throw fail("FAILED_PRECONDITION", { public: `The backup is damaged: the manifest of ${id} is not whole.` });
}

async function readSegments(target: BackupTarget, folder: string): Promise<Set<string>> {
  const names = (await Array.fromAsync(target.list(folder))).map(({ key }) => key.slice(folder.length));
  return new Set(names.filter(isSegment));
}

async function addLog(target: BackupTarget, manifest: BackupManifest, archived: ReadonlySet<string>): Promise<Backup> {
  const { systemId, timeline, endLsn, endedAt } = manifest;
  const segments: string[] = [];
  let number = segmentBefore(endLsn) + 1n;
  for (; archived.has(nameOfSegment(timeline, number)); number++) segments.push(nameOfSegment(timeline, number));
  const next = nameOfSegment(timeline, number);
  const last = segments.at(-1);
  const header = last === undefined ? undefined : await target.readHeader(walFolder(systemId, timeline) + last);
  return {
    manifest,
    segments,
    until: new Date(Math.max(Date.parse(endedAt), header?.timeMs ?? 0)),
    missing: [...archived].some((name) => name > next) ? next : undefined,
  };
}

/** Removes what only times before the last `keepDays` days need. The newest backup is always kept. Returns the removed ids. */
export async function removeExpiredBackups(target: BackupTarget, keepDays: number, nowMs: number): Promise<string[]> {
  const { manifests: backups, damaged } = await readManifests(target);
  const keptFromMs = nowMs - keepDays * dayMs;
  const bases = Map.groupBy(backups, ({ systemId }) => systemId);
  const removed: string[] = [];
  for (const [systemId, all] of bases) {
    // The last one before the kept time is where a restore to its beginning starts.
    const first = Math.max(
      0,
      all.findLastIndex(({ endedAt }) => Date.parse(endedAt) <= keptFromMs),
    );
    for (const { id } of all.slice(0, first)) {
      // Without its manifest, it is no backup any more.
      await target.remove(manifestName(id));
      removed.push(id);
    }
    await removeLogs(target, systemId, all.slice(first), keptFromMs);
    await removeObjects(target, systemId, all.slice(first));
  }
  const kept = [...backups.map(({ id }) => id), ...damaged].filter((id) => !removed.includes(id));
  await removeRemains(target, new Set(kept), nowMs);
  return removed;
}

const dayMs = 86_400_000;

/** Removes segments before the first backup of their timeline; without one, those before the kept time. */
async function removeLogs(
  target: BackupTarget,
  systemId: string,
  kept: readonly BackupManifest[],
  keptFromMs: number,
): Promise<void> {
  for await (const { key, storedAtMs } of target.list(`wal/${systemId}/`)) {
    const name = key.slice(key.lastIndexOf("/") + 1);
    if (!isSegment(name)) continue;
    const first = kept.find(({ timeline }) => nameOfSegment(timeline, 0n).slice(0, 8) === name.slice(0, 8));
    const isNeeded =
      first === undefined
        ? storedAtMs >= keptFromMs
        : name > nameOfSegment(first.timeline, segmentBefore(first.endLsn));
    if (!isNeeded) await target.remove(key);
  }
}

/** The clocks of a store and of a node differ by less. */
const clockSlackMs = 3_600_000;

/** Removes objects that no kept backup lists, and that are not newer than the oldest of them. */
async function removeObjects(target: BackupTarget, systemId: string, kept: readonly BackupManifest[]): Promise<void> {
  const keptFromMs = Math.min(...kept.map(({ startedAt }) => Date.parse(startedAt))) - clockSlackMs;
  // A restored server may need what the backups before the restore do not list.
  const listed = new Set<string>();
  for (const manifest of kept) {
    const keys = (await target.read(objectListName(manifest.id))).toString();
    for (const key of keys.split("\n")) listed.add(objectFolder(systemId, manifest.key) + key);
  }
  for await (const { key, storedAtMs } of target.list(objectFolders(systemId))) {
    if (storedAtMs < keptFromMs && !listed.has(key)) await target.remove(key);
  }
}

/** Removes the parts of backups that were removed, or that did not end within a day, and of files that were not written to their end. */
async function removeRemains(target: BackupTarget, kept: ReadonlySet<string>, nowMs: number): Promise<void> {
  for await (const { key, storedAtMs } of target.list("base/")) {
    if (!kept.has(idOf(key)) && storedAtMs < nowMs - dayMs) await target.remove(key);
  }
  await target.removeAbandonedWrites(nowMs - dayMs);
}
