import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, beforeEach } from "node:test";
import { type CliEnvironment, cli } from "./cli-run.ts";
import { startStub } from "./stub-service.ts";

const stub = await startStub();
const key = "sk_live_01abc_topsecretpart";
let folder = "";

beforeEach(() => {
  if (folder !== "") rmSync(folder, { recursive: true });
  folder = mkdtempSync(join(tmpdir(), "switchyard-profiles-"));
  stub.answers({ json: { data: [], total: 0, metadata: {} } });
});
after(() => rmSync(folder, { recursive: true, force: true }));

const file = () => join(folder, "switchyard", "profiles.json");
const here = (words: readonly string[], { env, ...rest }: CliEnvironment = {}) =>
  cli(words, { ...rest, env: { XDG_CONFIG_HOME: folder, ...env } });
const credentialsSent = () => stub.arrived.map(({ headers }) => headers["x-api-key"]);

test("a profile is readable only by its owner, and used from then on", async () => {
  const set = await here(["profile", "set", "dev", "--address", `${stub.address}/`, "--key", key]);
  assert.equal(set.exitCode, 0, set.err);
  assert.equal(statSync(file()).mode & 0o777, 0o600);
  assert.equal(statSync(join(folder, "switchyard")).mode & 0o777, 0o700);
  assert.equal((await here(["tenant", "list"])).exitCode, 0);
  assert.deepEqual(credentialsSent(), [key]);
});

test("a profile file that others can read is restricted when it is written", async () => {
  await here(["profile", "set", "dev", "--address", stub.address]);
  chmodSync(file(), 0o644);
  await here(["profile", "set", "dev", "--key", key]);
  assert.equal(statSync(file()).mode & 0o777, 0o600);
});

test("no output shows a complete key", async () => {
  const outputs = [
    await here(["profile", "set", "dev", "--address", stub.address, "--key", "-"], { input: `${key}\n` }),
    await here(["profile", "set", "other", "--address", stub.address, "--key", "aaaa.bbbb.cccc"]),
    await here(["profile", "list"], { terminal: true }),
    await here(["profile", "list", "--json"]),
  ];
  for (const { out, err } of outputs) {
    assert.ok(!`${out}${err}`.includes("topsecretpart"));
    assert.ok(!`${out}${err}`.includes("bbbb"));
  }
  assert.match(outputs[2]!.out, /^dev +\* +http:.* external +sk_live_01abc…$/m);
  assert.equal(JSON.parse(readFileSync(file(), "utf8")).profiles.dev.key, key);
});

test("profiles are chosen by option, by environment, or as the current one", async () => {
  await here(["profile", "set", "a", "--address", stub.address, "--key", "sk_a_1_aaaaaaaa"]);
  await here(["profile", "set", "b", "--address", stub.address, "--key", "sk_b_1_bbbbbbbb"]);
  await here(["tenant", "list"]);
  await here(["tenant", "list", "--profile", "b"]);
  await here(["--profile", "b", "tenant", "list"]);
  await here(["tenant", "list"], { env: { SWITCHYARD_PROFILE: "b" } });
  assert.equal((await here(["profile", "use", "b"])).exitCode, 0);
  await here(["tenant", "list"]);
  const b = "sk_b_1_bbbbbbbb";
  assert.deepEqual(credentialsSent(), ["sk_a_1_aaaaaaaa", b, b, b, b]);
});

test("options win over the environment, and so does a profile named by an option", async () => {
  await here(["profile", "set", "a", "--address", stub.address, "--key", "sk_a_1_aaaaaaaa"]);
  const env = { SWITCHYARD_ADDRESS: stub.address, SWITCHYARD_KEY: "sk_e_1_eeeeeeee" };
  await here(["tenant", "list"], { env });
  await here(["tenant", "list", "--key", "sk_o_1_oooooooo"], { env });
  await here(["tenant", "list", "--profile", "a"], { env: { ...env, SWITCHYARD_ADDRESS: "http://127.0.0.1:1" } });
  assert.deepEqual(credentialsSent(), ["sk_e_1_eeeeeeee", "sk_o_1_oooooooo", "sk_a_1_aaaaaaaa"]);
});

test("a profile's key is sent to no other address", async () => {
  await here(["profile", "set", "a", "--address", "https://switchyard.example", "--key", key]);
  await here(["tenant", "list", "--address", stub.address]);
  await here(["tenant", "list"], { env: { SWITCHYARD_ADDRESS: stub.address } });
  assert.deepEqual(credentialsSent(), [undefined, undefined]);
  await here(["profile", "set", "a", "--address", stub.address]);
  assert.equal(JSON.parse(readFileSync(file(), "utf8")).profiles.a.key, undefined);
});

test("a profile of the internal plane reaches internal operations", async () => {
  await here(["profile", "set", "inner", "--address", stub.address, "--plane", "internal"]);
  stub.answers({ json: { data: { valid: false }, metadata: {} } });
  assert.equal((await here(["api-key", "verify", "--secret", "x"])).exitCode, 0);
  assert.equal(stub.arrived[0]!.target, "/api/v2/api-keys:verify");
});

test("removing a profile deletes its key", async () => {
  await here(["profile", "set", "a", "--address", stub.address, "--key", key]);
  assert.equal((await here(["profile", "remove", "a"])).exitCode, 0);
  assert.ok(!readFileSync(file(), "utf8").includes("topsecret"));
  const { exitCode, err } = await here(["tenant", "list", "--profile", "a"]);
  assert.equal(exitCode, 2);
  assert.match(err, /No such profile: a/);
});

test("an invalid address, name or profile file is rejected", async () => {
  assert.equal((await here(["profile", "set", "a"])).exitCode, 2);
  assert.equal((await here(["profile", "set", "a b", "--address", stub.address])).exitCode, 2);
  for (const address of ["localhost:8080", "ftp://x", "http://u:p@x", "x"]) {
    assert.equal((await here(["profile", "set", "a", "--address", address])).exitCode, 2, address);
  }
  assert.equal((await here(["profile", "use", "__proto__"])).exitCode, 2);
  await here(["profile", "set", "a", "--address", stub.address]);
  writeFileSync(file(), "{");
  const { exitCode, err } = await here(["profile", "list"]);
  assert.equal(exitCode, 1);
  assert.match(err, /is not a valid profile file/);
});

test("without a home directory there are no profiles, and calls still work", async () => {
  const env = { HOME: undefined, XDG_CONFIG_HOME: undefined, SWITCHYARD_ADDRESS: stub.address };
  assert.equal((await cli(["tenant", "list"], { env })).exitCode, 0);
  const { exitCode, err } = await cli(["profile", "set", "a", "--address", stub.address], { env });
  assert.equal(exitCode, 2);
  assert.match(err, /set HOME or XDG_CONFIG_HOME/);
});
