/**
 * Storage: how full the places are in which the service stores.
 *
 * volume: a disk, or a database with a size that it may have. filling: from `storage.warn_percent` on. full: from
 * `storage.full_percent` on; nothing is added then.
 */
export { createStorageWatch, type StorageWatch } from "./storage-watch.ts";
export { estimateTenantBytes } from "./tenant-storage.ts";
export { databaseVolume, diskVolume, type Volume } from "./volume.ts";
