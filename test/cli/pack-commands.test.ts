import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { readPublicKey, verifyStatement } from "../../src/platform/crypto/index.ts";
import { cli } from "./cli-run.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-pack-cli-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const packFile = join(folder, "pack.yaml");
writeFileSync(
  packFile,
  `pack: 1
publisher: acme
name: sample
kind: workflow
version: 1.0.0
title: Sample
contents:
  - record: workflow_definition
    key: main
    content: { dsl: "1", key: sample, timeout: 1d, steps: [{ id: one, transform: 1 }] }
`,
);

async function newKey(name: string) {
  const file = join(folder, name);
  const { exitCode, out } = await cli(["pack", "keygen", file]);
  assert.equal(exitCode, 0);
  return { file, ...(JSON.parse(out) as { key_id: string; public_key: string }) };
}

test("a new key is readable only by its owner, and never replaces a file", async () => {
  const { file, public_key, key_id } = await newKey("one.pem");
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(readPublicKey(public_key).id, key_id);
  const before = readFileSync(file, "utf8");
  const { exitCode, err } = await cli(["pack", "keygen", file]);
  assert.equal(exitCode, 1);
  assert.match(err, /cannot be written/);
  assert.equal(readFileSync(file, "utf8"), before);
});

test("a pack is signed with the key, as YAML and as the response of an export", async () => {
  const { file, public_key, key_id } = await newKey("two.pem");
  const { exitCode, out } = await cli(["pack", "sign", packFile, "--key", file]);
  assert.equal(exitCode, 0);
  const { digest, signature, key_id: signedWith, ...document } = JSON.parse(out);
  assert.equal(signedWith, key_id);
  const type = "application/vnd.switchyard.pack.v1+json";
  assert.ok(verifyStatement(type, document, signature, readPublicKey(public_key)));
  const exported = join(folder, "exported.json");
  writeFileSync(exported, JSON.stringify({ data: { pack: { ...document, digest } }, metadata: {} }));
  assert.equal((await cli(["pack", "sign", exported, "--key", file])).out, out);
});

test("a check prints what a pack is, and refuses a changed or malformed one", async () => {
  const { exitCode, out } = await cli(["pack", "check", packFile]);
  assert.equal(exitCode, 0);
  const summary = JSON.parse(out);
  assert.deepEqual([summary.publisher, summary.version, summary.records], ["acme", "1.0.0", 1]);
  const changed = join(folder, "changed.yaml");
  writeFileSync(changed, `${readFileSync(packFile, "utf8")}digest: "${"0".repeat(64)}"\n`);
  assert.match((await cli(["pack", "check", changed])).err, /does not match its digest/);
  writeFileSync(changed, "pack: 1\nkind: nothing\n");
  assert.match((await cli(["pack", "check", changed])).err, /kind: must be connector, workflow, notification or rules/);
  writeFileSync(changed, "a: [");
  assert.match((await cli(["pack", "check", changed])).err, /neither YAML nor JSON/);
  assert.match((await cli(["pack", "check", join(folder, "none")])).err, /cannot be read/);
});
