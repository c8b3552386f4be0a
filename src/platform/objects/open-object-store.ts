import { join } from "node:path";
import { createFileStore } from "./file-store.ts";
import type { ObjectStore } from "./object-store.ts";
import { createS3Store } from "./s3-store.ts";

type TextKey = "endpoint" | "region" | "bucket" | "prefix" | "access_key_id" | "secret_access_key" | "session_token";

/** The settings of a bucket. Several groups of settings name one. */
type BucketSettings<Group extends string> = Readonly<Record<`${Group}.s3.${TextKey}`, string>> &
  Readonly<Record<`${Group}.s3.addressing`, "path" | "host">>;

/** The settings that choose where large objects are. */
export interface ObjectStoreSettings extends BucketSettings<"objects"> {
  readonly "data.dir": string;
  readonly "objects.backend": "file" | "s3";
  readonly "objects.file.dir": string;
}

/** The settings that choose where backups are. */
export interface BackupStoreSettings extends BucketSettings<"backup"> {
  readonly "backup.backend": "none" | "file" | "s3";
  readonly "backup.file.dir": string;
}

/** Opens the store of large objects. It does not connect yet. */
export function openObjectStore(settings: ObjectStoreSettings, now: () => number): ObjectStore {
  if (settings["objects.backend"] === "s3") return openBucket("objects", settings, now);
  return createFileStore(settings["objects.file.dir"] || join(settings["data.dir"], "objects"));
}

/** Opens the store of backups; undefined if there is none. It does not connect yet. */
export function openBackupStore(settings: BackupStoreSettings, now: () => number): ObjectStore | undefined {
  switch (settings["backup.backend"]) {
    case "none":
      return undefined;
    case "file":
      return createFileStore(settings["backup.file.dir"]);
    case "s3":
      return openBucket("backup", settings, now);
  }
}

function openBucket<Group extends "objects" | "backup">(
  group: Group,
  settings: BucketSettings<NoInfer<Group>>,
  now: () => number,
): ObjectStore {
  // TypeScript does not find a key of any group in the settings of this one.
  const bucket = settings as BucketSettings<"objects" | "backup">;
  const region = bucket[`${group}.s3.region`];
  return createS3Store(
    {
      endpoint: bucket[`${group}.s3.endpoint`] || `https://s3.${region}.amazonaws.com`,
      region,
      bucket: bucket[`${group}.s3.bucket`],
      prefix: bucket[`${group}.s3.prefix`],
      accessKeyId: bucket[`${group}.s3.access_key_id`],
      secretAccessKey: bucket[`${group}.s3.secret_access_key`],
      sessionToken: bucket[`${group}.s3.session_token`] || undefined,
      addressing: bucket[`${group}.s3.addressing`],
    },
    now,
  );
}
