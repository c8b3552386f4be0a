import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { startError } from "../../src/cli/local/start-error.ts";
import { loadConfig, settings } from "../../src/config/index.ts";
import { freshDatabase, testServerUrl } from "../harness/postgres.ts";
import { databaseUrl } from "../harness/postgres-server.ts";
import { cli } from "./cli-run.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-settings-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const set = (...pairs: string[]) => pairs.flatMap((pair) => ["--set", pair]);
const loopback = set("server.internal_addr=127.0.0.1:0");

test("config show lists every setting with its source", async () => {
  const file = join(folder, "a.yaml");
  writeFileSync(file, "server:\n  internal_addr: 127.0.0.1:0\nlog:\n  level: warn\n");
  const env = { SERVICE_EVENTS_RETENTION_DAYS: "7" };
  const { exitCode, out } = await cli(["config", "show", "--config", file, ...set("auth.bcrypt_cost=4")], { env });
  assert.equal(exitCode, 0);
  for (const key of Object.keys(settings)) assert.match(out, new RegExp(`^${key.replaceAll(".", "\\.")} `, "m"));
  assert.match(out, /^log\.level +warn +file$/m);
  assert.match(out, /^events\.retention_days +7 +environment$/m);
  assert.match(out, /^auth\.bcrypt_cost +4 +command line$/m);
  assert.match(out, /^server\.http_addr +:8080 +default$/m);
});

test("config show masks every secret", async () => {
  const marker = "TOPSECRET";
  const values: Record<string, string> = {
    "database.url": `postgres://u:${marker}@db/x`,
    "database.listen_url": `postgres://u:${marker}@db/x`,
    "database.read_url": `postgres://u:${marker}@replica/x`,
    "cache.redis_url": `redis://:${marker}@cache`,
    "auth.service_token_secret": marker.repeat(4),
    "auth.bootstrap_api_key": `sk_dev_1_${marker}`,
    "connector.encryption_key": marker,
    "connector.rotation_keys": `k0=${marker}`,
    "backup.encryption_key": marker,
    "backup.s3.secret_access_key": marker,
    "backup.s3.session_token": marker,
    "objects.s3.secret_access_key": marker,
    "objects.s3.session_token": marker,
    "analytics.prometheus_token": marker,
  };
  const secrets = Object.entries(settings).filter(([, { secret }]) => secret);
  assert.deepEqual(secrets.map(([key]) => key).sort(), Object.keys(values).sort());
  const given = set(...Object.entries(values).map(([key, value]) => `${key}=${value}`));
  for (const form of [[], ["--json"]]) {
    const { exitCode, out } = await cli(["config", "show", ...loopback, ...given, ...form]);
    assert.equal(exitCode, 0);
    assert.ok(!out.includes(marker));
    assert.match(out, /k0/);
  }
  const { out } = await cli(["config", "show", "--json", ...loopback, ...given]);
  const shown = JSON.parse(out).settings.find(({ key }: { key: string }) => key === "database.url");
  assert.deepEqual(shown, {
    key: "database.url",
    value: "********",
    source: "command line",
    environment: "SERVICE_DATABASE_URL",
  });
});

for (const [what, words, named] of [
  ["an unknown setting", set("server.htpp_addr=:1"), "server.htpp_addr: there is no such setting"],
  ["a bad value", [...loopback, ...set("auth.enabled=perhaps")], "auth.enabled: must be true or false"],
  [
    "an internal plane for everybody",
    set("server.internal_addr=:8081"),
    "server.internal_addr: :8081 is not a loopback",
  ],
  ["a missing file", ["--config", join(folder, "none.yaml")], `${join(folder, "none.yaml")}: cannot be read`],
] as const) {
  test(`serve rejects ${what} in one line that names it`, async () => {
    const { exitCode, out, err } = await cli(["serve", ...words]);
    assert.equal(exitCode, 78);
    assert.equal(out, "");
    assert.ok(err.startsWith(`service: ${named}`), err);
    assert.equal(err.split("\n").length, 2);
  });
}

test("serve reports every invalid setting together", async () => {
  const { exitCode, err } = await cli(["serve", ...loopback, ...set("auth.enabled=perhaps", "log.level=loud")]);
  assert.equal(exitCode, 78);
  assert.match(err, /^service: 2 settings are invalid:\n {2}auth\.enabled: .*\n {2}log\.level: must be one of .*\n$/);
});

test("without a settings file the commands use the file of npm start, and say so", async () => {
  const { exitCode, out } = await cli(["config", "show", "--json"]);
  assert.equal(exitCode, 0);
  const { file, settings: shown } = JSON.parse(out);
  assert.match(file, /config\/development\.yaml$/);
  const address = shown.find(({ key }: { key: string }) => key === "server.http_addr");
  assert.deepEqual([address.value, address.source], ["127.0.0.1:8080", "file"]);
  assert.match((await cli(["config", "show"])).err, /development\.yaml/);
});

test("a deployment never uses the development settings", async () => {
  const deployments = [
    { words: set("database.url=postgres://u@db/x"), env: {} },
    { words: [], env: { SERVICE_DATABASE_URL: "postgres://u@db/x" } },
    { words: [], env: { SERVICE_LOG_LEVEL: "warn" } },
  ];
  for (const { words, env } of deployments) {
    const { exitCode, err } = await cli(["config", "show", ...words], { env });
    assert.equal(exitCode, 78);
    assert.match(err, /^service: server\.internal_addr: :8081 is not a loopback address/);
  }
});

test("serve rejects an unknown setting in the environment, and an unknown role", async () => {
  const { exitCode, err } = await cli(["serve", ...loopback], { env: { SERVICE_NO_SUCH: "1" } });
  assert.equal(exitCode, 78);
  assert.match(err, /SERVICE_NO_SUCH: there is no such setting/);
  assert.equal((await cli(["serve", "--role", "boss"])).exitCode, 2);
});

test("an unknown database fails the start with one line", async () => {
  const words = set(`database.url=${databaseUrl(testServerUrl(), "no_such")}`, "log.level=silent");
  const { exitCode, err } = await cli(["serve", ...loopback, ...words]);
  assert.equal(exitCode, 78);
  assert.equal(err, 'service: database.url: cannot connect to the database: database "no_such" does not exist\n');
});

test("ports in use fail the start, which names their settings and free ports that no other setting has", async () => {
  const { url } = await freshDatabase();
  const occupy = async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return { server, port: (server.address() as { port: number }).port };
  };
  const [http, metrics] = [await occupy(), await occupy()];
  // The next port belongs to another listener of the same service.
  const addresses = [
    `server.http_addr=127.0.0.1:${http.port}`,
    `api.addr=127.0.0.1:${http.port + 1}`,
    `server.metrics_addr=127.0.0.1:${metrics.port}`,
  ];
  const { exitCode, err } = await cli([
    "serve",
    ...loopback,
    ...set(`database.url=${url}`, ...addresses, "log.level=silent"),
  ]);
  http.server.close();
  metrics.server.close();
  assert.equal(exitCode, 78);
  const [problem, advice, variables] = err.split("\n");
  const start = `service: server.http_addr: port ${http.port} of 127.0.0.1 is in use by another program, like the ports of `;
  assert.ok(problem!.startsWith(start) && problem!.endsWith("server.metrics_addr."), problem);
  const chosen = Array.from(advice!.matchAll(/--set (\S+)=127\.0\.0\.1:(\d+)/g), ([, key, port]) => [
    key,
    Number(port),
  ]);
  assert.match(advice!, /^ {2}Stop that program, or choose other ports: --set server\.http_addr=/);
  assert.match(variables!, /^ {2}\(or with environment variables: SERVICE_SERVER_HTTP_ADDR=127\.0\.0\.1:\d+ /);
  assert.ok(chosen.some(([key]) => key === "server.metrics_addr"));
  const reserved = [http.port, http.port + 1, metrics.port];
  for (const [, port] of chosen) assert.ok(!reserved.includes(port as number), advice);
});

test("a failed start prints its stack trace only with log.level=debug", () => {
  const error = new Error("broken");
  const quiet = loadConfig({ overrides: ["server.internal_addr=127.0.0.1:0"] });
  assert.equal(startError(error, quiet).message, "Cannot start: broken");
  const debug = loadConfig({ overrides: ["server.internal_addr=127.0.0.1:0", "log.level=debug"] });
  assert.ok(startError(error, debug).message.includes(error.stack!));
});
