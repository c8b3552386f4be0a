import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { createBlobCodec, readHeader } from "./sealed-blob.ts";
import { readTar } from "./tar-reader.ts";

const content = Buffer.from("what was acknowledged ".repeat(1000));

test("a blob is opened only with its key, under its name, and as it was stored", async () => {
  const codec = createBlobCodec(randomBytes(32).toString("base64"));
  const blob = await codec.seal("wal/7/a", content, 1234.5);
  assert.ok(blob.length < content.length / 10 && !blob.includes("acknowledged"));
  assert.equal(readHeader("wal/7/a", blob.subarray(0, 1000)).timeMs, 1234);
  assert.deepEqual(await codec.open("wal/7/a", blob), content);
  await assert.rejects(codec.open("wal/7/b", blob), /damaged: wal\/7\/b is not what was stored/);
  // Every byte counts: of the header, the nonce and the content.
  for (const at of [0, 5, 20, 60, blob.length - 200, blob.length - 1]) {
    const changed = Buffer.from(blob);
    changed[at]! ^= 1;
    await assert.rejects(codec.open("wal/7/a", changed), /damaged|fingerprint/, `byte ${at}`);
  }
  await assert.rejects(codec.open("wal/7/a", blob.subarray(0, -1)), /damaged/);
  const plain = createBlobCodec("");
  await assert.rejects(plain.open("wal/7/a", blob), /needs the key with the fingerprint \w{12}; none is set/);
  const unencrypted = await plain.seal("wal/7/a", content, 0);
  assert.deepEqual(await plain.open("wal/7/a", unencrypted), content);
  await assert.rejects(codec.open("wal/7/a", unencrypted), /this backup is not encrypted/);
  unencrypted[unencrypted.length - 1]! ^= 1;
  await assert.rejects(plain.open("wal/7/a", unencrypted), /damaged/);
  // A store that is not trusted must not fill the memory: nothing is inflated beyond what the header says.
  const swapped = Buffer.concat([
    (await plain.seal("wal/7/a", Buffer.from("short"), 0)).subarray(0, -25),
    gzipSync(content),
  ]);
  await assert.rejects(plain.open("wal/7/a", swapped), (error: Error) => {
    return (error.cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
  });
});

/** An archive in the format that PostgreSQL writes. */
function archiveOf(write: (folder: string) => void): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "tar-"));
  try {
    write(folder);
    return execFileSync("tar", ["--format=ustar", "-cf", "-", "-C", folder, "."]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function entriesOf(archive: Buffer, chunkBytes: number) {
  const chunks = async function* () {
    for (let at = 0; at < archive.length; at += chunkBytes) yield archive.subarray(at, at + chunkBytes);
  };
  const entries: Record<string, Buffer | "folder"> = {};
  for await (const { path, isFolder, content } of readTar(chunks())) {
    entries[path] = isFolder ? "folder" : await buffer(content);
  }
  return entries;
}

test("an archive is read as it was written, however it is cut; a cut or changed one is refused", async () => {
  const large = randomBytes(3000);
  const archive = archiveOf((folder) => {
    mkdirSync(join(folder, "base/1"), { recursive: true });
    writeFileSync(join(folder, "base/1/large"), large);
    writeFileSync(join(folder, "empty"), "");
  });
  for (const chunkBytes of [1, 511, 512, 100_000]) {
    const { "base/1/large": found, empty, base } = await entriesOf(archive, chunkBytes);
    assert.deepEqual(found, large);
    assert.deepEqual([empty, base], [Buffer.alloc(0), "folder"]);
  }
  const end = archive.indexOf(large) + 1000;
  await assert.rejects(entriesOf(archive.subarray(0, end), 512), /it ends early/);
  const changed = Buffer.from(archive);
  changed[10]! ^= 1;
  await assert.rejects(entriesOf(changed, 512), /a checksum is wrong/);
  const linked = archiveOf((folder) => execFileSync("ln", ["-s", "/etc/passwd", join(folder, "link")]));
  await assert.rejects(entriesOf(linked, 512), /link is neither a file nor a folder/);
});

test("an archive cannot write outside of its folder", async () => {
  const header = Buffer.alloc(512);
  header.write("../outside");
  header.write("00000000000", 124);
  header.write("        ", 148);
  header.write("0", 156);
  header.write(
    header
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, "0"),
    148,
  );
  await assert.rejects(entriesOf(header, 512), /\.\.\/outside leaves the folder/);
});
