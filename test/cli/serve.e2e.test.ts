import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import test, { after } from "node:test";
import { signServiceToken } from "../../src/platform/tokens/index.ts";
import { until } from "../harness/until.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "switchyard-e2e-"));
const tokenSecret = "a secret of service tokens, for this test only";
const running = new Set<ChildProcess>();
after(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
});

/** Starts the command as users do, in its own process. */
function start(words: readonly string[]) {
  const child = spawn(process.execPath, [join(root, "src/cli/main.ts"), ...words], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: folder, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
  });
  running.add(child);
  const texts = { out: "", err: "" };
  child.stdout.on("data", (chunk) => {
    texts.out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    texts.err += chunk;
  });
  const exited = once(child, "close").then(([code]) => {
    running.delete(child);
    return code as number;
  });
  return { child, texts, exited };
}

async function service(...words: string[]) {
  const { texts, exited } = start(words);
  return { exitCode: await exited, ...texts };
}

async function answered(...words: string[]) {
  const { exitCode, out, err } = await service(...words);
  assert.equal(exitCode, 0, err);
  return JSON.parse(out).data;
}

/** Waits for a line of output; fails with the error output when the process ends first. */
async function line({ child, texts }: ReturnType<typeof start>, pattern: RegExp): Promise<RegExpExecArray> {
  for await (const each of createInterface({ input: child.stdout! })) {
    const found = pattern.exec(each);
    if (found !== null) return found;
  }
  throw new Error(`The process ended without printing ${pattern}: ${texts.err}`);
}

test("one command starts, uses and stops the service", async () => {
  const settings = {
    "data.dir": join(folder, "data"),
    "server.http_addr": "127.0.0.1:0",
    "server.internal_addr": "127.0.0.1:0",
    "server.metrics_addr": "",
    "api.addr": "",
    "auth.service_token_secret": tokenSecret,
  };
  const set = Object.entries(settings).flatMap(([key, value]) => ["--set", `${key}=${value}`]);
  const serving = start(["serve", ...set]);
  await line(serving, /export ADDRESS/);
  const address = /serving at (\S+)/.exec(serving.texts.out)![1]!;
  const key = /admin key +(\S+)/.exec(serving.texts.out)![1]!;
  assert.match(serving.texts.err, /"migrations":\d+,"newest":"\d{4}_\w+\.sql"/);
  assert.doesNotMatch(serving.texts.err, /0001_/, "no list of all migrations");
  assertPasteable(serving.texts.out);

  assert.equal((await service("profile", "set", "dev", "--address", address, "--key", key)).exitCode, 0);
  const [platform] = await answered("tenant", "list");
  assert.equal(platform.platform, true);
  const { admin_key: tenantKey, ...tenant } = await answered("tenant", "create", "--name", "Acme", "--issue-admin-key");
  assert.equal(tenant.name, "Acme");
  const environments = await answered("environment", "list", "--limit", "2", "--key", tenantKey);
  assert.equal(environments.length, 2);

  const following = start(["event", "tail", "--types", "api_key.created", "--verbose"]);
  const created = line(following, /"type":"api_key\.created"/);
  await subscribed(following);
  const { secret, ...apiKey } = await answered("api-key", "create", "--name", "ci", "--roles", "viewer");
  const [event] = (await created).input.split("\n");
  assert.equal(JSON.parse(event!).subject, apiKey.id);
  following.child.kill("SIGTERM");
  await following.exited;

  const token = await signServiceToken({ issuer: "test", subject: "test", tenantId: platform.id }, tokenSecret);
  const internal = /"internal":"([^"]+)"/.exec(serving.texts.err)![1]!;
  const inner = ["--plane", "internal", "--address", `http://${internal}`, "--key", token];
  assert.equal((await answered("api-key", "verify", "--secret", secret, ...inner)).valid, true);

  assert.equal((await service("tenant", "create", "--name", "No", "--key", secret)).exitCode, 3);
  assert.equal((await service("tenant", "get", "none")).exitCode, 4);
  assert.equal((await answered("api-key", "revoke", apiKey.id)).status, "STATUS_REVOKED");

  serving.child.kill("SIGTERM");
  assert.equal(await serving.exited, 0, serving.texts.err);
  assert.equal((await service("tenant", "list")).exitCode, 6);

  // The key is printed only by the start that created it.
  assert.ok(!serving.texts.err.includes(key));
  const again = start(["serve", ...set]);
  await line(again, /export ADDRESS/);
  assert.ok(!`${again.texts.out}${again.texts.err}`.includes(key.slice(-12)), again.texts.out);
  assert.match(again.texts.out, /admin key +in .*admin\.key$/m);
  assertPasteable(again.texts.out);
  again.child.kill("SIGTERM");
  assert.equal(await again.exited, 0, again.texts.err);
});

/** Checks that the printed examples work when pasted: the request by itself, and the exports for the guides. */
function assertPasteable(text: string): void {
  const request = /^ +(curl .*)$/m.exec(text)![1]!;
  const exports = /^ +(export .*)$/m.exec(text)![1]!;
  const documented = `${exports}; curl -sS "$ADDRESS/api/v2/environments" -H "X-API-Key: $KEY"`;
  for (const script of [request, documented]) {
    const { stdout, stderr } = spawnSync("bash", ["-c", script], { encoding: "utf8", cwd: "/" });
    assert.match(stdout, /"total":3/, `${script}: ${stdout}${stderr}`);
  }
}

async function subscribed({ texts }: ReturnType<typeof start>): Promise<void> {
  await until(() => texts.err.includes("< 200"));
}
