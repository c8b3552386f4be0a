import assert from "node:assert/strict";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { findEvidencePack } from "../../src/cli/prove/evidence.ts";
import { promises } from "../../src/cli/prove/promises.ts";
import { artifactOf, createPack, environmentId, reasonsOf } from "../governance/evidence-fixture.ts";
import { seed, sized } from "../harness/run-size.ts";
import { startService } from "../harness/service.ts";
import { newTenant } from "../routing/tenant-fixture.ts";
import { prove, startProve } from "./prove-run.ts";

const minutes = sized(0.3, 20);
const breaks = sized<string[]>([], ["--nodes", "4", "--database-restart"]);

test("a run breaks nodes, finds every promise kept, opens a gate, and leaves nothing behind", async () => {
  const service = await startService();
  const tenant = await newTenant(service);
  const environment = await environmentId(tenant, "staging");
  const pack = await createPack(tenant, environment, { required_types: ["proof"] });
  const routing = artifactOf("routing", "leads");
  await pack.add(routing);
  await pack.add(artifactOf("report", "load-test"));
  await pack.receipt("scenario", [routing]);
  assert.deepEqual(reasonsOf(await pack.gate()), ["routing.proof missing"]);

  const evidence = ["--evidence-pack", `staging/${pack.id}`, "--address", service.baseUrl, "--key", tenant.key];
  const { exitCode, report, folder } = await prove([
    "--embedded",
    "--minutes",
    String(minutes),
    "--seed",
    String(seed),
    ...breaks,
    ...evidence,
  ]);
  assert.equal(exitCode, 0, JSON.stringify(report, null, 2));
  assert.equal(report.verdict, "held");
  assert.deepEqual(
    report.promises.filter(({ status }) => status !== "held"),
    [],
  );
  assert.ok(report.faults.kill! > 0);
  assert.ok(report.acknowledged.route! > 100);
  assert.deepEqual(await readdir(folder), []);
  assert.deepEqual([report.receipt!.type, report.receipt!.result], ["proof", "passed"]);
  assert.deepEqual(
    report.receipt!.cases,
    promises.map(({ id }) => ({ id, status: "passed" })),
  );
  assert.equal((await pack.gate()).state, "open");
  const { data } = await tenant.ok("POST", "/api/rollout-evidence/receipts:verify", {
    envelope: report.receipt!.envelope,
  });
  assert.equal(data.valid, true);
});

test("a run whose evidence pack does not exist is refused before it starts", async () => {
  const service = await startService();
  const { key } = await newTenant(service);
  const evidence = ["--evidence-pack", "staging/none", "--address", service.baseUrl, "--key", key];
  const run = await startProve(["--embedded", ...evidence]);
  const { exitCode, out, err } = await run.ended;
  assert.deepEqual([exitCode, out], [1, ""]);
  assert.match(err, /^service: .*evidence pack/);
  assert.deepEqual(await readdir(run.folder), []);
});

test("a run is refused by an evidence pack of a service with another version", async (t) => {
  const other = createServer(
    (_, response) => void response.end("openapi: 3.1.1\ninfo:\n  title: S\n  version: 0.0.1\n"),
  );
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  t.after(() => other.close());
  const address = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const pack = findEvidencePack({ address, key: "none", plane: "external" }, "staging/none");
  await assert.rejects(pack, /has the version 0.0.1, and a proof by this command is about/);
});

test("every promise names a page that exists", async () => {
  for (const { document } of promises) {
    const [path, anchor] = document.split("#");
    const text = await readFile(new URL(`../../${path}`, import.meta.url), "utf8");
    if (anchor !== undefined) assert.match(text.toLowerCase(), new RegExp(`^#+ ${anchor.replaceAll("-", " ")}$`, "m"));
  }
});
