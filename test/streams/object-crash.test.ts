import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { type NodeProcess, startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { sampled, shareText } from "../harness/run-size.ts";
import { startS3Server } from "../harness/s3-server.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { makeDue } from "./due-jobs.ts";
import { objectClient, sha256Of } from "./object-client.ts";

const fault = new URL("./object-fault.ts", import.meta.url).href;
const adminKey = `sk_test_admin_${randomBytes(16).toString("hex")}`;
const directory = await mkdtemp(join(tmpdir(), "objects-crash-"));
const s3 = await startS3Server();
const removalKind = "workflow.remove_objects.local";

const backends = {
  file: { "objects.file.dir": directory },
  s3: {
    "objects.backend": "s3",
    "objects.s3.endpoint": s3.settings.endpoint,
    "objects.s3.bucket": s3.settings.bucket,
    "objects.s3.access_key_id": s3.settings.accessKeyId,
    "objects.s3.secret_access_key": s3.settings.secretAccessKey,
  },
};
after(async () => {
  await s3.close();
  await rm(directory, { recursive: true, force: true });
});

/** Starts a node that dies at a boundary. */
function startDoomed(settings: Readonly<Record<string, string>>, point: string): Promise<NodeProcess> {
  return startNodeProcess(settings, {
    shell: (command) => `OBJECT_FAULT='${point}' NODE_OPTIONS='--import ${fault}' exec ${command}`,
  });
}

async function storedFiles(): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

const filePoints = [
  "upload: before the region is noted",
  "upload: before the first byte",
  "upload: between two parts",
  "upload: before the file is synchronized",
  "upload: before the rename",
  "upload: after the rename",
  "upload: before it is recorded",
  "upload: before the response",
  "commit: before the evidence",
  "commit: before the record",
  "commit: between the record and the intent",
  "commit: before the response",
  "abort: before it is recorded",
  "abort: before the response",
];
const s3Points = ["upload: before it is recorded", "upload: before the response", "commit: before the response"];

for (const [backend, points, stored] of [
  ["file", filePoints, storedFiles],
  ["s3", s3Points, s3.keys],
] as const) {
  const database = await freshDatabase();
  const { sql } = database;
  const settings = {
    ...{ "database.url": database.url, "auth.bootstrap_api_key": adminKey },
    ...backends[backend],
  };
  const survivor = await startService(settings, database.url);
  const client = objectClient(survivor.baseUrl, adminKey);

  suite(`a node that dies, with the ${backend} backend${shareText(3, "points")}`, { concurrency: false }, () => {
    after(async () => {
      await survivor.stop();
      await database.drop();
    });

    /** Ends the time of everything that is not committed, and runs the removal until nothing is left to do. */
    async function cleanUp(): Promise<void> {
      await sql`
        update workflow_object_intents set expires_at = now() - interval '1 hour', remove_after = now() - interval '1 hour'
        where remove_after is not null`;
      if (backend === "file") {
        const twoHoursAgo = Date.now() / 1000 - 7200;
        for (const file of await storedFiles()) {
          if (file.includes("/incoming/")) await utimes(file, twoHoursAgo, twoHoursAgo);
        }
      }
      await until(async () => {
        await makeDue(sql, [removalKind]);
        const open = await sql`select from workflow_object_intents where remove_after is not null limit 1`;
        const isAbandoned = backend === "file" && (await storedFiles()).some((file) => file.includes("/incoming/"));
        return open.length === 0 && !isAbandoned;
      });
    }

    // Every case starts a node. The long form includes all of them.
    for (const point of sampled(points, 3, 0)) {
      test(point, async () => {
        const stream = await client.createStream();
        const bytes = randomBytes(300_000);
        const [kept, abandoned] = [await client.prepare(stream, bytes), await client.prepare(stream, bytes)];
        const pathOf = (intent: { id: string }) => `${stream}/objects/${intent.id}`;
        const doomed = await startDoomed(settings, point);
        const dying = objectClient(doomed.baseUrl, adminKey);
        const last = point.startsWith("abort") ? "abort" : "commit";
        // Both deliveries are interrupted where they are.
        await Promise.allSettled(
          [kept, abandoned].map(async (intent) => {
            assert.equal((await dying.raw("PUT", pathOf(intent), bytes)).status, 200);
            await dying.call("POST", `${pathOf(intent)}:${last}`, {});
          }),
        );
        assert.equal(await doomed.exited, "SIGKILL");

        // Visible means: committed, with a record, and with all bytes.
        const check = async () => {
          const { records } = await client.call("GET", `${stream}/records`);
          for (const intent of [kept, abandoned]) {
            const { status, sequence } = await client.call("GET", `${pathOf(intent)}/intent`);
            const record = records.find(
              (each: { object?: { object_id: string } }) => each.object?.object_id === intent.id,
            );
            const download = await client.raw("GET", pathOf(intent));
            assert.equal(status === "committed", record !== undefined);
            assert.equal(download.status, record === undefined ? 404 : 200);
            if (record === undefined) continue;
            assert.equal(record.sequence, sequence);
            assert.equal(sha256Of(download.bytes), sha256Of(bytes));
          }
          return records.length;
        };
        const visible = await check();

        if (last === "commit") {
          // The client repeats its calls on another node.
          assert.equal((await client.raw("PUT", pathOf(kept), bytes)).status, 200);
          const first = await client.call("POST", `${pathOf(kept)}:commit`, {});
          assert.equal((await client.call("POST", `${pathOf(kept)}:commit`, {})).sequence, first.sequence);
          assert.ok((await check()) >= Math.max(1, visible));
        }
        await cleanUp();
        await check();
        const { records } = await client.call("GET", `${stream}/records`);
        const ids = records.map(({ object }: { object: { object_id: string } }) => object.object_id);
        const left = (await stored()).filter((key) => key.includes(kept.id) || key.includes(abandoned.id));
        assert.equal(left.length, ids.length, left.join());
        if (backend === "file") assert.ok((await storedFiles()).every((file) => !file.includes("/incoming/")));
      });
    }
  });
}

for (const point of ["removal: before the bytes", "removal: between the bytes and the row"]) {
  test(`a node that dies: ${point}; another one completes it, and a held object stays`, async () => {
    const database = await freshDatabase();
    const settings = { "database.url": database.url, "auth.bootstrap_api_key": adminKey, ...backends.file };
    const { sql } = database;
    const doomed = await startDoomed(settings, point);
    const client = objectClient(doomed.baseUrl, adminKey);
    const ids: string[] = [];
    for (const isHeld of [false, true]) {
      const stream = await client.createStream();
      const bytes = randomBytes(1000);
      const { id } = await client.prepare(stream, bytes);
      assert.equal((await client.raw("PUT", `${stream}/objects/${id}`, bytes)).status, 200);
      await client.call("POST", `${stream}/objects/${id}:abort`, {});
      if (isHeld) await client.call("PUT", `${stream}/legal-hold`, { held: true, reason: "case 7" });
      ids.push(id);
    }
    const [removable, held] = ids as [string, string];
    await sql`update workflow_object_intents set expires_at = now() - interval '1 hour', remove_after = now() - interval '1 hour'`;
    await makeDue(sql, [removalKind]);
    assert.equal(await doomed.exited, "SIGKILL");
    const [row] = await sql`select removed_at from workflow_object_intents where id = ${removable}`;
    assert.equal(row!.removedAt ?? row!.removed_at, null);

    const next = await startService(settings, database.url);
    await until(async () => {
      // The lease of the dead node would expire later.
      await sql`update jobs set run_at = now(), lease_until = now() - interval '1 second' where kind = ${removalKind}`;
      const done = await sql`select from workflow_object_intents where id = ${removable} and removed_at is not null`;
      return done.length > 0;
    });
    const files = await storedFiles();
    assert.ok(!files.some((file) => file.includes(removable)));
    assert.ok(files.some((file) => file.includes(held)));
    await next.stop();
    await database.drop();
  });
}
