import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test, { after } from "node:test";
import { promisify } from "node:util";
import { until } from "../harness/until.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const work = await mkdtemp(join(tmpdir(), "switchyard-package-"));
const running = new Set<ChildProcess>();
after(async () => {
  for (const child of running) child.kill("SIGKILL");
  await rm(work, { recursive: true, force: true, maxRetries: 20 });
});

/** The machine's Node and npm, as a user without a clone has them. Within `npm test`, npm says which ones these are. */
const { npm_node_execpath: machineNode = process.execPath, npm_execpath: npmCli } = process.env;
const npm = npmCli?.endsWith(".js") ? [machineNode, npmCli] : ["npm"];
const cleanEnv = {
  PATH: [dirname(machineNode), "/usr/local/bin", "/usr/bin", "/bin"].join(":"),
  HOME: join(work, "home"),
  // What `npm ci` has downloaded serves here too.
  npm_config_cache: (await run(npm[0]!, [...npm.slice(1), "config", "get", "cache"], { cwd: work })).stdout.trim(),
  npm_config_prefer_offline: "true",
};

/** Runs an npm command in a folder, without anything of this clone in its environment. */
async function runNpm(cwd: string, ...words: string[]): Promise<string> {
  const { stdout } = await run(npm[0]!, [...npm.slice(1), ...words], { cwd, env: cleanEnv, maxBuffer: 1 << 26 });
  return stdout;
}

/** Packs a folder; returns the path of the tarball and the files in it. */
async function pack(folder: string): Promise<{ tarball: string; files: string[] }> {
  const [packed] = JSON.parse(await runNpm(folder, "pack", "--json", "--pack-destination", work));
  return { tarball: join(work, packed.filename), files: packed.files.map(({ path }: { path: string }) => path) };
}

const freePorts = ["http", "internal"].flatMap((name) => ["--set", `server.${name}_addr=127.0.0.1:0`]);
const settings = [...freePorts, "--set", "server.metrics_addr=", "--set", "api.addr="];

/** Starts the installed service in a folder and waits until it serves. */
async function startInstalled(program: string, cwd: string) {
  const child = spawn(program, ["serve", ...settings], { cwd, env: cleanEnv });
  running.add(child);
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += chunk));
  const exited = once(child, "exit").then(([code]) => {
    running.delete(child);
    return code as number;
  });
  const [, address] = (await Promise.race([
    until(() => /serving at (\S+)/.exec(text) ?? undefined),
    exited.then((code) => assert.fail(`It ended with ${code}: ${text}`)),
  ]))!;
  const key = () => /admin key +(sk_\S+)/.exec(text)?.[1];
  return { address: address!, key, stop: () => child.kill("SIGTERM") && exited };
}

test("the packed package installs into an empty folder, routes an item, stops, and starts again with its data", async () => {
  const staged = join(work, "package");
  await run(process.execPath, [join(root, "scripts/package.mjs"), staged]);
  const { tarball, files } = await pack(staged);
  assert.deepEqual(
    files.filter((file) => file.endsWith(".ts")),
    [],
    "Node runs no TypeScript in node_modules",
  );
  const home = join(work, "empty");
  await mkdir(home);
  await runNpm(home, "install", "--no-fund", "--no-audit", tarball);
  const program = join(home, "node_modules/.bin/switchyard");
  const { stdout } = await run(program, ["version"], { cwd: home, env: cleanEnv });
  assert.match(stdout, /^\d+\.\d+\.\d+ \(commit [0-9a-f]{12}, built \d{4}-\d\d-\d\dT[\d:.]+Z\)\n$/);

  const first = await startInstalled(program, home);
  const key = first.key()!;
  const call = async (address: string, method: string, path: string, body?: unknown) => {
    const response = await fetch(address + path, {
      method,
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const answer = (await response.json()) as { data: Record<string, unknown> };
    assert.equal(response.status, 200, JSON.stringify(answer));
    return answer.data;
  };
  const pool = await call(first.address, "POST", "/api/pools", { name: "orders", strategy: "first_accept" });
  const routed = await call(first.address, "POST", "/api/route", { pool_id: pool.id, type: "order", payload: {} });
  assert.equal(routed.outcome, "queued");
  // Read in a thread of its own, which is a file of its own.
  const text =
    'dsl: "1"\nkey: greet\nname: Greet\ntimeout: 1d\nsteps:\n  - id: sum\n    transform: { total: "=1 + 1" }\n';
  const validated = await call(first.address, "POST", "/api/workflow-definitions:validate", { text });
  assert.deepEqual(validated.violations, []);
  assert.match(await (await fetch(`${first.address}/docs`)).text(), /<html/);
  assert.match(await (await fetch(`${first.address}/console`)).text(), /<script/);
  assert.equal(await first.stop(), 0);

  const second = await startInstalled(program, home);
  assert.equal(second.key(), undefined, "the key is printed once");
  assert.equal((await call(second.address, "GET", `/api/pools/${pool.id}`)).name, "orders");
  assert.equal(await second.stop(), 0);
});

test("the TypeScript client is built when it is packed, and runs where it is installed", async () => {
  const { tarball, files } = await pack(join(root, "clients/typescript"));
  for (const file of ["dist/index.js", "dist/index.d.ts", "dist/node.js", "dist/inbox.js", "README.md", "LICENSE"])
    assert.ok(files.includes(file), `${file} is in ${files.join(", ")}`);
  const project = join(work, "project");
  await mkdir(project);
  await writeFile(join(project, "package.json"), JSON.stringify({ type: "module" }));
  await runNpm(project, "install", "--no-fund", "--no-audit", tarball);
  const program = `import { createClient } from "@switchyard/client"; console.log(typeof createClient({ baseUrl: "http://127.0.0.1:1", apiKey: "k" }).pools.create);`;
  await writeFile(join(project, "program.js"), program);
  const { stdout } = await run(machineNode, ["program.js"], { cwd: project, env: cleanEnv });
  assert.equal(stdout, "function\n");
});
