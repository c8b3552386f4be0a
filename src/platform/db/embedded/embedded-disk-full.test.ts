import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { query, scratch } from "../../../../test/harness/embedded-owner.ts";
import { startEmbedded } from "./embedded.ts";
import { type Server, startServer } from "./embedded-process.ts";

const run = promisify(execFile);
const advice =
  /Its disk is full \(could not write to file "pg_wal\/[^)]*No space left on device\)\. Free space on the disk of /;

test("a server that ends because its disk is full reports it, with advice", async (t) => {
  const { exited } = await startScript(t, "exit 1", [
    "[7] LOG:  database system is ready to accept connections",
    '[7] PANIC:  could not write to file "pg_wal/xlogtemp.7": No space left on device',
    "[7] LOG:  database system is shut down",
  ]);
  assert.match(await exited, advice);
});

test("a server that goes on after its recovery failed is ended with that reason", async (t) => {
  const { exited } = await startScript(t, "exec sleep 60", [
    "[7] LOG:  database system was shut down at 2026-01-01 00:00:00 UTC",
    "[6] LOG:  database system is ready to accept connections",
    "[6] LOG:  all server processes terminated; reinitializing",
    "[8] FATAL:  the database system is in recovery mode",
    "[9] LOG:  database system was interrupted; last known up at 2026-01-01 00:00:00 UTC",
    '[9] FATAL:  could not write to file "pg_wal/xlogtemp.9": No space left on device',
    "[10] FATAL:  the database system is not yet accepting connections",
  ]);
  assert.match(await exited, advice);
});

test("a server that recovers goes on, whatever its clients fail with", async (t) => {
  const { exited, stop } = await startScript(t, "exec sleep 60", [
    "[6] LOG:  database system is ready to accept connections",
    "[9] LOG:  database system was interrupted; last known up at 2026-01-01 00:00:00 UTC",
    "[10] FATAL:  the database system is in recovery mode",
    "[6] LOG:  database system is ready to accept connections",
    "[9] FATAL:  terminating connection due to administrator command",
  ]);
  assert.equal(await Promise.race([exited, delay(1500, "running")]), "running");
  await stop();
});

/** Starts a program that logs lines as PostgreSQL does. */
async function startScript(t: TestContext, last: string, lines: readonly string[]): Promise<Server> {
  const { dataDir } = await scratch(t);
  return startServer({
    file: "/bin/sh",
    args: ["-c", `${lines.map((line) => `echo '2026-01-01 00:00:00 UTC ${line}' >&2`).join("; ")}; ${last}`],
    folder: dataDir,
    user: { prefix: [], id: undefined, nameOf: (path) => path },
  });
}

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
