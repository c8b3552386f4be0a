import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { readReferenceSamples } from "../docs/reference-samples.ts";
import { afterFile } from "../harness/after-file.ts";
import { startService, type TestService } from "../harness/service.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const client = join(root, "clients/typescript");
const readme = readFileSync(join(client, "README.md"), "utf8");
const samples = readme.split(/^## /m).flatMap((section) => {
  const title = section.slice(0, section.indexOf("\n"));
  const found = [...section.matchAll(/```ts\n(.*?)```\n\n```text\n(.*?)```/gs)];
  return found.map(([, code, output]) => ({ title, code: code!, output: output! }));
});

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
    assert.equal(samples.length, [...readme.matchAll(/```ts\n/g)].length, "every sample has an output");
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

  for (const [at, { title, code, output }] of samples.entries()) {
    test(`sample ${at + 1} of the README (${title}) prints what the README says`, async () => {
      const env = { ...process.env, SWITCHYARD_ADDRESS: service.baseUrl, SWITCHYARD_KEY: service.adminKey };
      const child = spawn(process.execPath, [join(folder, `sample-${at}.ts`)], { env });
      afterFile(() => child.kill("SIGKILL"));
      let printed = "";
      // A worker runs until it is stopped. Its last line follows the signal.
      let isEndless = code.includes("await runWorkers([worker], { drainMs");
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => {
          printed += text;
          if (isEndless && printed.includes("shipped")) isEndless = !child.kill("SIGTERM");
        });
      }
      const [exitCode] = await once(child, "close");
      assert.equal(printed, output);
      assert.equal(exitCode, 0);
    });
  }
});
