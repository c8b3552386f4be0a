import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { readReferenceSamples } from "../docs/reference-samples.ts";
import { findPython, whyNoPython } from "../harness/python.ts";
import { startService, type TestService } from "../harness/service.ts";
import { assertShorter, readSamples, runSample } from "./readme-samples.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const client = join(root, "clients/python");
const modules = readdirSync(join(client, "tests")).flatMap((file) => /^(test_\w+)\.py$/.exec(file)?.[1] ?? []);
const python = await findPython();

describe("the Python client", { skip: python === undefined && whyNoPython() }, () => {
  let service: TestService;

  before(async () => {
    service = await startService();
  });

  const environment = () => ({
    ...python!.env,
    ...{ SWITCHYARD_ADDRESS: service.baseUrl, SWITCHYARD_KEY: service.adminKey },
    ...{ PYTHONPATH: client, PYTHONDONTWRITEBYTECODE: "1" },
  });

  for (const module of modules) {
    test(`clients/python/tests/${module}.py passes`, async () => {
      const args = ["-W", "ignore::ResourceWarning", "-m", "unittest", "-v", `tests.${module}`];
      const { stderr } = await promisify(execFile)(python!.path, args, { cwd: client, env: environment() }).catch(
        ({ stderr: output }: { stderr: string }) => assert.fail(output),
      );
      assert.match(stderr, /^Ran [1-9]\d* tests/m);
    });
  }

  const guide = join(root, "docs/guides/move-from-temporal.md");
  for (const sample of [...readSamples(join(client, "README.md"), "python"), ...readSamples(guide, "python")]) {
    test(`${sample.name} prints what it says`, async () => {
      await runSample(sample, [python!.path, "-c", sample.code], environment());
    });
  }

  test("the samples of the reference call methods that exist, with their arguments", () => {
    const ofReference = readReferenceSamples().flatMap(({ object, write }) => {
      const code = write("Python");
      return code === undefined ? [] : [{ name: object.operationId, code }];
    });
    assert.ok(ofReference.length > 400);
    const { status, stderr } = spawnSync(python!.path, [join(root, "test/client/reference_samples.py")], {
      ...{ env: environment(), input: JSON.stringify(ofReference), encoding: "utf8" },
    });
    assert.equal(status, 0, stderr);
  });

  test("the program that was moved from Temporal is shorter than before", () => assertShorter(guide, "py", "python"));
});
