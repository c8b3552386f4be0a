import { join } from "node:path";
import { createFileStore } from "./file-store.ts";
import type { ObjectStore } from "./object-store.ts";
import { createS3Store } from "./s3-store.ts";

/** The settings that choose the store. */
export interface ObjectStoreSettings {
  readonly "data.dir": string;
  readonly "objects.backend": "file" | "s3";
  readonly "objects.file.dir": string;
  readonly "objects.s3.endpoint": string;
  readonly "objects.s3.region": string;
  readonly "objects.s3.bucket": string;
  readonly "objects.s3.prefix": string;
  readonly "objects.s3.access_key_id": string;
  readonly "objects.s3.secret_access_key": string;
  readonly "objects.s3.session_token": string;
  readonly "objects.s3.addressing": "path" | "host";
}

/** Opens the store of the settings. It does not connect yet. */
export function openObjectStore(settings: ObjectStoreSettings, now: () => number): ObjectStore {
  if (settings["objects.backend"] === "file") {
    return createFileStore(settings["objects.file.dir"] || join(settings["data.dir"], "objects"));
  }
  const region = settings["objects.s3.region"];
  return createS3Store(
    {
      endpoint: settings["objects.s3.endpoint"] || `https://s3.${region}.amazonaws.com`,
      region,
      bucket: settings["objects.s3.bucket"],
      prefix: settings["objects.s3.prefix"],
      accessKeyId: settings["objects.s3.access_key_id"],
      secretAccessKey: settings["objects.s3.secret_access_key"],
      sessionToken: settings["objects.s3.session_token"] || undefined,
      addressing: settings["objects.s3.addressing"],
    },
    now,
  );
}
