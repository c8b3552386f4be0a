import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";

test("a node that serves has written its compile cache, so that the start after a crash uses it", async (t) => {
  const database = await freshDatabase();
  const cache = await mkdtemp(join(tmpdir(), "switchyard-compiled-"));
  const node = await startNodeProcess(
    { "database.url": database.url },
    { shell: (command) => `NODE_COMPILE_CACHE='${cache}' exec ${command}` },
  );
  t.after(async () => {
    await node.kill();
    await rm(cache, { recursive: true });
    await database.drop();
  });
  const written = await readdir(cache, { recursive: true, withFileTypes: true });
  assert.ok(written.some((each) => each.isFile()));
});
