import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { readReferenceSamples } from "../docs/reference-samples.ts";
import { afterFile } from "../harness/after-file.ts";
import { startService, type TestService } from "../harness/service.ts";
import { assertShorter, readSamples, runSample } from "./readme-samples.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const client = join(root, "clients/typescript");
const guide = join(root, "docs/guides/move-from-bullmq.md");
const samples = [...readSamples(join(client, "README.md"), "ts"), ...readSamples(guide, "ts")];

describe("the package of the client", () => {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-client-"));
  let service: TestService;

  before(async () => {
    afterFile(() => rmSync(folder, { recursive: true }));
    service = await startService();
  });

  const compile = (...args: string[]) =>
    promisify(execFile)(process.execPath, [join(root, "node_modules/typescript-native/bin/tsc"), ...args]).catch(
      ({ stdout }: { stdout: string }) => assert.fail(stdout),
    );

  test("the package is built, and its samples compile against it, as do those of the reference", async () => {
    const installed = join(folder, "node_modules/@switchyard/client");
    mkdirSync(installed, { recursive: true });
    await compile("-p", client, "--outDir", join(installed, "dist"));
    copyFileSync(join(client, "package.json"), join(installed, "package.json"));
    symlinkSync(join(root, "node_modules/@types"), join(folder, "node_modules/@types"));
    writeFileSync(join(folder, "package.json"), '{"type": "module"}');
    for (const [at, { code }] of samples.entries()) writeFileSync(join(folder, `sample-${at}.ts`), code);
    const ofReference = readReferenceSamples().flatMap(({ object, write }) => {
      const code = write("TypeScript");
      return code === undefined ? [] : [{ name: object.operationId, code }];
    });
    assert.ok(ofReference.length > 400);
    for (const { name, code } of ofReference) writeFileSync(join(folder, `${name}.ts`), code);
    const options = { strict: true, noEmit: true, target: "esnext", module: "nodenext", types: ["node"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["*.ts"] }));
    await compile("-p", folder);
  });

  for (const [at, sample] of samples.entries()) {
    test(`${sample.name} prints what it says`, async () => {
      const env = { ...process.env, SWITCHYARD_ADDRESS: service.baseUrl, SWITCHYARD_KEY: service.adminKey };
      await runSample(sample, [process.execPath, join(folder, `sample-${at}.ts`)], env);
    });
  }

  test("the program that was moved from BullMQ is shorter than before", () => assertShorter(guide, "js", "ts"));
});
