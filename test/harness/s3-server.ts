import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import S3rver from "@20minutes/s3rver";
import type { S3Settings } from "../../src/platform/objects/index.ts";
import { until } from "./until.ts";

/** An S3-compatible server with one bucket. */
export interface S3Server {
  readonly settings: S3Settings;
  /** The keys of all objects in the bucket. */
  keys(): Promise<string[]>;
  close(): Promise<void>;
}

/** Starts an S3-compatible server on a free port. It verifies signatures. */
export async function startS3Server(): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), "s3-"));
  const bucket = "objects";
  const options = { address: "127.0.0.1", port: 0, silent: true, directory, configureBuckets: [{ name: bucket }] };
  const server = new S3rver(options);
  const { port } = await server.run();
  return {
    settings: {
      endpoint: `http://127.0.0.1:${port}`,
      region: "us-east-1",
      bucket,
      prefix: "",
      // The only credentials that the server knows.
      accessKeyId: "S3RVER",
      secretAccessKey: "S3RVER",
      sessionToken: undefined,
      addressing: "path",
    },
    async keys() {
      const files = await filesIn(join(directory, bucket));
      return files.flatMap((file) => (file.endsWith(suffix) ? file.slice(0, -suffix.length) : []));
    },
    async close() {
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The end of the names of files that hold objects. */
const suffix = "._S3rver_object";

async function filesIn(directory: string): Promise<string[]> {
  const files = await until(() =>
    readdir(directory, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
      // The server removes empty directories.
      if (error.code !== "ENOENT") throw error;
    }),
  );
  return files!;
}
