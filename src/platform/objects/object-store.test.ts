import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { suite, test } from "node:test";
import { sized } from "../../../test/harness/run-size.ts";
import { startS3Server } from "../../../test/harness/s3-server.ts";
import { createFileStore, createS3Store, ObjectMismatch, type ObjectStore } from "./index.ts";

interface Opened {
  readonly store: ObjectStore;
  /** Everything that is stored, finished or not. */
  keys(): Promise<string[]>;
  close(): Promise<void>;
}

async function openFileStore(): Promise<Opened> {
  const directory = await mkdtemp(join(tmpdir(), "objects-"));
  return {
    store: createFileStore(directory),
    async keys() {
      const entries = await readdir(directory, { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    },
    close: () => rm(directory, { recursive: true }),
  };
}

async function openS3Store(): Promise<Opened> {
  const server = await startS3Server();
  const store = createS3Store(server.settings, Date.now);
  return {
    store,
    keys: server.keys,
    async close() {
      store.close();
      await server.close();
    },
  };
}

const key = "01J00000000000000000000001/Z0/01J0000000000000000000000Z";
const open = new AbortController().signal;

function expectedOf(bytes: Buffer) {
  return { sizeBytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}

async function* parts(bytes: Buffer, partBytes = 64 * 1024): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += partBytes) yield bytes.subarray(at, at + partBytes);
}

for (const [name, openStore] of [["file", openFileStore] as const, ["s3", openS3Store] as const]) {
  suite(`the ${name} store`, { concurrency: false }, () => {
    test("returns an object and its ranges as they were stored", async (t) => {
      const { store, close } = await openStore();
      t.after(close);
      const bytes = randomBytes(300_001);
      await store.put(key, parts(bytes), expectedOf(bytes), open);
      assert.equal((await store.stat(key))?.sizeBytes, bytes.length);
      for (const [firstByte, byteCount] of [
        [0, bytes.length],
        [0, 1],
        [bytes.length - 1, 1],
        [65_530, 70_000],
      ] as const) {
        const read = await store.read(key, { firstByte, byteCount }, open);
        assert.ok(bytes.subarray(firstByte, firstByte + byteCount).equals(await buffer(read!)), `${firstByte}`);
      }
    });

    test("has nothing under a key without an object", async (t) => {
      const { store, close } = await openStore();
      t.after(close);
      assert.equal(await store.stat(key), undefined);
      assert.equal(await store.read(key, { firstByte: 0, byteCount: 1 }, open), undefined);
      await store.remove(key);
    });

    test("lists the objects below a prefix", async (t) => {
      const { store, close } = await openStore();
      t.after(close);
      assert.deepEqual(await Array.fromAsync(store.list("a/")), []);
      const bytes = randomBytes(10);
      const stored = ["a/b/1", "a/b.c", "ab/2", ...Array.from({ length: sized(3, 1100) }, (_, n) => `many/${n}`)];
      for (const each of stored) await store.put(each, parts(bytes), expectedOf(bytes), open);
      const keysOf = async (prefix: string) => (await Array.fromAsync(store.list(prefix))).map((found) => found.key);
      assert.deepEqual((await keysOf("a/")).sort(), ["a/b.c", "a/b/1"]);
      assert.deepEqual((await keysOf("")).sort(), stored.sort());
      const [found] = await Array.fromAsync(store.list("ab/"));
      assert.equal(found!.sizeBytes, 10);
      assert.ok(Math.abs(found!.storedAtMs - Date.now()) < 60_000);
    });

    test("removes an object; a reader that has begun gets all of it", async (t) => {
      const { store, keys, close } = await openStore();
      t.after(close);
      const bytes = randomBytes(200_000);
      await store.put(key, parts(bytes), expectedOf(bytes), open);
      const read = await store.read(key, { firstByte: 0, byteCount: bytes.length }, open);
      await store.remove(key);
      assert.ok(bytes.equals(await buffer(read!)));
      assert.equal(await store.stat(key), undefined);
      assert.deepEqual(await keys(), []);
    });

    const bytes = randomBytes(200_000);
    const wrong: readonly (readonly [ObjectMismatch["reason"], Buffer])[] = [
      ["too_long", Buffer.concat([bytes, Buffer.of(1)])],
      ["too_short", bytes.subarray(1)],
      ["digest", Buffer.concat([bytes.subarray(1), bytes.subarray(0, 1)])],
    ];
    for (const [reason, sent] of wrong) {
      test(`refuses a body that is wrong: ${reason}`, async (t) => {
        const { store, keys, close } = await openStore();
        t.after(close);
        await assert.rejects(
          store.put(key, parts(sent), expectedOf(bytes), open),
          (error) => error instanceof ObjectMismatch && error.reason === reason,
        );
        assert.equal(await store.stat(key), undefined);
        // The S3 server of the tests keeps incomplete files.
        if (name === "file") assert.deepEqual(await keys(), []);
        await store.put(key, parts(bytes), expectedOf(bytes), open);
        assert.equal((await store.stat(key))?.sizeBytes, bytes.length);
      });
    }

    test("stores nothing when the write is aborted, or when the body fails", async (t) => {
      const { store, close } = await openStore();
      t.after(close);
      const aborted = new AbortController();
      async function* interrupted(): AsyncGenerator<Uint8Array> {
        yield bytes.subarray(0, 100_000);
        aborted.abort(new Error("stopped"));
        yield bytes.subarray(100_000);
      }
      await assert.rejects(store.put(key, interrupted(), expectedOf(bytes), aborted.signal), /stopped/);
      async function* failing(): AsyncGenerator<Uint8Array> {
        yield bytes.subarray(0, 100_000);
        throw new Error("lost");
      }
      await assert.rejects(store.put(key, failing(), expectedOf(bytes), open), /lost/);
      assert.equal(await store.stat(key), undefined);
    });
  });
}

test("the file store removes what interrupted writes have left, and leaves writes in progress alone", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "objects-"));
  t.after(() => rm(directory, { recursive: true }));
  const store = createFileStore(directory);
  const bytes = randomBytes(1000);
  await store.put(key, parts(bytes), expectedOf(bytes), open);
  const incoming = join(directory, "incoming");
  await writeFile(join(incoming, "old"), "x");
  await writeFile(join(incoming, "new"), "x");
  const hourAgo = Date.now() - 3_600_000;
  await utimes(join(incoming, "old"), hourAgo / 1000, hourAgo / 1000);
  assert.equal(await store.removeAbandonedWrites(Date.now() - 1_800_000), 1);
  assert.deepEqual(await readdir(incoming), ["new"]);
  assert.deepEqual(await readFile(join(directory, "stored", key)), bytes);
});

test("keys that leave the directory or the bucket are refused", async () => {
  const bucket = { endpoint: "http://127.0.0.1:1", region: "r", bucket: "bbb", prefix: "", accessKeyId: "a" };
  const s3 = { ...bucket, secretAccessKey: "b", sessionToken: undefined, addressing: "path" } as const;
  for (const store of [createFileStore("/nonexistent"), createS3Store(s3, Date.now)])
    for (const wrong of ["../x", "a/../../x", "/etc/passwd", "a//b", "", "a/."]) {
      await assert.rejects(store.stat(wrong), /is not a key/);
    }
});

test("an S3 server that refuses the credentials, or is not there, is an error of the store", async (t) => {
  const server = await startS3Server();
  t.after(server.close);
  const bytes = randomBytes(100_000);
  for (const settings of [
    { ...server.settings, secretAccessKey: "wrong" },
    { ...server.settings, endpoint: "http://127.0.0.1:1" },
  ]) {
    const store = createS3Store(settings, Date.now);
    t.after(() => store.close());
    await assert.rejects(store.put(key, parts(bytes), expectedOf(bytes), open), { name: "Error" });
    await assert.rejects(store.stat(key), /HEAD (failed|returned)/);
  }
  assert.deepEqual(await server.keys(), []);
});

test("an error of an S3 server keeps its reason, and not the request that it repeats", async (t) => {
  const server = createServer((request, response) => {
    const token = request.headers["x-amz-security-token"];
    response
      .writeHead(403)
      .end(`<Error><Code>SignatureDoesNotMatch</Code><CanonicalRequest>${token}</CanonicalRequest></Error>`);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const bucket = { endpoint: `http://127.0.0.1:${port}`, region: "r", bucket: "bbb", prefix: "", accessKeyId: "a" };
  const store = createS3Store(
    { ...bucket, secretAccessKey: "b", sessionToken: "temporary", addressing: "path" },
    Date.now,
  );
  t.after(() => store.close());
  await assert.rejects(store.read(key, { firstByte: 0, byteCount: 1 }, open), {
    message: "GET returned 403: SignatureDoesNotMatch",
  });
});
