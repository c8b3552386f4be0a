import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { freePort } from "../harness/free-port.ts";
import { testServerUrl } from "../harness/postgres.ts";
import { administer, databaseUrl } from "../harness/postgres-server.ts";
import { assertGuideWorks } from "./guide-tests.ts";

test("a service grows from one process to two, and from its embedded database to two nodes on another, as its guide says", async (t) => {
  const server = testServerUrl();
  const name = `grow_${randomBytes(8).toString("hex")}`;
  await administer(server, `create database ${name}`);
  const folder = await mkdtemp(join(tmpdir(), "switchyard-grow-"));
  t.after(async () => {
    await rm(folder, { recursive: true, force: true, maxRetries: 20 });
    await administer(server, `drop database ${name} with (force)`);
  });
  const [port, second] = [await freePort(), await freePort()];
  const env = {
    DATA: join(folder, "data"),
    DATABASE: databaseUrl(server, name),
    PORT: String(port),
    SECOND_PORT: String(second),
  };
  await assertGuideWorks("grow.md", { baseUrl: `http://127.0.0.1:${port}`, adminKey: "", env });
});
