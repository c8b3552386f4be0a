import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { query, scratch } from "../../../../test/harness/embedded-owner.ts";
import { startEmbedded } from "./embedded.ts";
import { startServer } from "./embedded-process.ts";

const run = promisify(execFile);
const advice =
  /Its disk is full \(could not write to file "pg_wal\/[^)]*No space left on device\)\. Free space on the disk of /;

test("a server that ends because its disk is full reports it, with advice", async (t) => {
  const { dataDir } = await scratch(t);
  const lines = [
    "LOG:  database system is ready to accept connections",
    'PANIC:  could not write to file "pg_wal/xlogtemp.7": No space left on device',
    "LOG:  database system is shut down",
  ];
  const { exited } = await startServer({
    file: "/bin/sh",
    args: ["-c", `${lines.map((line) => `echo '2026-01-01 00:00:00 UTC [7] ${line}' >&2`).join("; ")}; exit 1`],
    folder: dataDir,
    user: { prefix: [], id: undefined, nameOf: (path) => path },
  });
  assert.match(await exited, advice);
});

test("the embedded PostgreSQL of a disk that fills up ends with that reason", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "switchyard-disk-"));
  const mounted = await run("mount", ["-t", "tmpfs", "-o", "size=120m", "tmpfs", dataDir]).catch(() => undefined);
  t.after(async () => {
    if (mounted !== undefined) await run("umount", ["-l", dataDir]);
    await rm(dataDir, { recursive: true });
  });
  // Without the permission to mount a small disk, only the test above covers this.
  if (mounted === undefined) return t.diagnostic("this machine lets nobody mount a small disk");
  const { url, exited } = await startEmbedded({ dataDir, durable: false });
  await query(url, "create table filler as select 1 as x");
  const fill = async () => {
    for (;;) await appendFile(join(dataDir, "filler"), Buffer.alloc(1024 * 1024));
  };
  let isOver = false;
  exited.then(() => {
    isOver = true;
  });
  // A new segment of the write-ahead log needs more space than is left. A checkpoint may free the space of old ones.
  while (!isOver) {
    await assert.rejects(fill(), { code: "ENOSPC" });
    await query(url, "update filler set x = x; select pg_switch_wal()").catch(() => {});
  }
  assert.match(await exited, advice);
});
