import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { afterFile } from "../harness/after-file.ts";
import { type NodeProcess, startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { sized } from "../harness/run-size.ts";
import { startS3Server } from "../harness/s3-server.ts";
import { objectClient } from "./object-client.ts";

const mebibyte = 1024 * 1024;
const part = randomBytes(mebibyte);
const partCount = 32;
const hash = createHash("sha256");
for (let n = 0; n < partCount; n++) hash.update(part);
const announced = { sha256: hash.digest("hex"), size_bytes: partCount * mebibyte };

const directory = await mkdtemp(join(tmpdir(), "objects-memory-"));
const s3 = await startS3Server();
afterFile(async () => {
  await s3.close();
  await rm(directory, { recursive: true, force: true });
});

/** The memory of a process that is in RAM. */
function residentBytes({ process: { pid } }: NodeProcess): number {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) * 1024;
}

/** Uploads an object part by part, as fast as the node takes them. */
async function upload(url: string, key: string): Promise<void> {
  const headers = { "x-api-key": key, "content-length": String(announced.size_bytes) };
  const request = httpRequest(url, { method: "PUT", headers, agent: false });
  const answered = new Promise<number>((resolve, reject) => {
    request.on("response", (response) => {
      response.resume().on("end", () => resolve(response.statusCode!));
    });
    request.on("error", reject);
  });
  for (let n = 0; n < partCount; n++) {
    if (!request.write(part)) await new Promise((resolve) => request.once("drain", resolve));
  }
  request.end();
  assert.equal(await answered, 200);
}

for (const [backend, count, settings] of [
  ["file", sized(12, 50), { "objects.file.dir": directory }],
  [
    "s3",
    sized(8, 50),
    {
      "objects.backend": "s3",
      "objects.s3.endpoint": s3.settings.endpoint,
      "objects.s3.bucket": s3.settings.bucket,
      "objects.s3.access_key_id": s3.settings.accessKeyId,
      "objects.s3.secret_access_key": s3.settings.secretAccessKey,
    },
  ],
] as const) {
  test(`${count} uploads of 32 MiB at the same time fit in a fraction of their size, on the ${backend} backend`, async (t) => {
    const database = await freshDatabase();
    const key = `sk_test_admin_${randomBytes(16).toString("hex")}`;
    const node = await startNodeProcess({ "database.url": database.url, "auth.bootstrap_api_key": key, ...settings });
    t.after(async () => {
      await node.kill();
      await database.drop();
    });
    const client = objectClient(node.baseUrl, key);
    const stream = await client.createStream({ ceilings: { unread_bytes: 2 ** 40, total_bytes: 2 ** 40 } });
    const paths: string[] = [];
    for (let n = 0; n <= count; n++) {
      const intent = await client.call("POST", `${stream}/objects`, announced);
      paths.push(`${stream}/objects/${intent.id}`);
    }
    await upload(node.baseUrl + paths.pop()!, key);
    const beforeBytes = residentBytes(node);
    let peakBytes = beforeBytes;
    const sampling = setInterval(() => {
      peakBytes = Math.max(peakBytes, residentBytes(node));
    }, 250);
    try {
      await Promise.all(paths.map((path) => upload(node.baseUrl + path, key)));
    } finally {
      clearInterval(sampling);
    }
    const grownMib = Math.round((Math.max(peakBytes, residentBytes(node)) - beforeBytes) / mebibyte);
    t.diagnostic(`${Math.round(beforeBytes / mebibyte)} MiB before, ${grownMib} MiB more at the peak`);
    assert.ok(grownMib < 200, `${grownMib} MiB more for ${count * partCount} MiB`);
    for (const path of paths) await client.call("POST", `${path}:commit`, {});
    assert.equal((await client.call("GET", `${stream}`)).items, count);
  });
}
