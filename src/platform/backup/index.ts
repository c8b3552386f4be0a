/**
 * Backups of the embedded PostgreSQL, and of what belongs to it.
 *
 * backup     a copy of the whole cluster, with the generated keys, from which a data folder can be restored
 * log        PostgreSQL's write-ahead log, in files of 16 MiB, its segments; it repeats what happened after a backup
 * archive    to store the log and new objects, as soon as they are complete
 * target     the store of backups; all it holds are blobs: compressed, with a digest, and encrypted if there is a key
 * restore    to copy a backup to a new data folder, and to repeat the log up to a time
 * timeline   the number of the server that wrote a log; a restored server begins a new one
 */
export { type ArchiveState, backupProblem, readArchiveState } from "./archive-state.ts";
export { startArchiver } from "./archiver.ts";
export { type BackupTarget, createBackupTarget } from "./backup-target.ts";
export { type Backup, readBackups, readCatalog, removeExpiredBackups } from "./catalog.ts";
export { createBackup } from "./create-backup.ts";
export { createObjectCopies } from "./object-copies.ts";
export { readRestoreMark, restoreBackup } from "./restore-backup.ts";
export { verifyBackup } from "./verify-backup.ts";
