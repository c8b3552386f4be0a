import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { S3Settings } from "../../src/platform/objects/index.ts";

/** The part of s3rver that is used. It has no types. */
interface S3rver {
  run(): Promise<{ readonly port: number }>;
  close(): Promise<void>;
}
type S3rverClass = new (options: Record<string, unknown>) => S3rver;

/** An S3-compatible server with one bucket. */
export interface S3Server {
  readonly settings: S3Settings;
  /** The keys of all objects in the bucket. */
  keys(): Promise<string[]>;
  close(): Promise<void>;
}

/** Starts an S3-compatible server on a free port. It verifies signatures. */
export async function startS3Server(): Promise<S3Server> {
  const S3rverServer = createRequire(import.meta.url)("@20minutes/s3rver") as S3rverClass;
  const directory = await mkdtemp(join(tmpdir(), "s3-"));
  const bucket = "objects";
  const options = { address: "127.0.0.1", port: 0, silent: true, directory, configureBuckets: [{ name: bucket }] };
  const server = new S3rverServer(options);
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
      const files = await readdir(join(directory, bucket), { recursive: true });
      return files.flatMap((file) =>
        file.endsWith("._S3rver_object") ? file.slice(0, -"._S3rver_object".length) : [],
      );
    },
    async close() {
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
