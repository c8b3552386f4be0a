/**
 * Objects: large bodies of bytes that are stored outside of the database.
 *
 * object     bytes under a key, stored whole or not at all, never changed
 * store      where objects are: a directory (`file`), or a bucket of an S3-compatible server (`s3`)
 * evidence   what the store says about an object: that it is there, with its size
 */
export { createFileStore } from "./file-store.ts";
export {
  type ByteRange,
  type ExpectedBody,
  type ListedObject,
  ObjectMismatch,
  type ObjectReader,
  type ObjectStore,
  ObjectStoreError,
} from "./object-store.ts";
export { type BackupStoreSettings, openBackupStore, openObjectStore } from "./open-object-store.ts";
export { createS3Store, type S3Settings } from "./s3-store.ts";
export { verifyBody } from "./verified-body.ts";
