import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";
import { artifactOf, createPack, environmentId, type TestPack } from "./evidence-fixture.ts";

let service: TestService;
let tenant: TenantFixture;
let sandbox: string;
before(async () => {
  service = await startService();
  tenant = await newTenant(service);
  sandbox = await environmentId(tenant, "staging");
});

const routing = artifactOf("routing", "leads");

type Call = readonly [method: string, path: string, body?: object];

const calls: Readonly<Record<string, (pack: TestPack) => Call>> = {
  update: ({ path }) => ["PUT", path, { name: "changed" }],
  add_artifact: ({ path }) => ["POST", `${path}/artifacts`, { artifact: artifactOf("strategy", "fair") }],
  add_receipt: ({ path }) => ["POST", `${path}/receipts`, { type: "scenario", result: "passed", subjects: [routing] }],
  start_run: ({ path }) => ["POST", `${path}/runs`, { type: "scenario", mode: "sandbox" }],
  evaluate: ({ path }) => ["POST", `${path}/gate:evaluate`, {}],
  explain: ({ path }) => ["POST", `${path}:explain`, {}],
  export: ({ path }) => ["POST", `${path}:export`, {}],
  archive: ({ path }) => ["POST", `${path}:archive`, {}],
};

/** The status after every possible call; the other pairs are refused. */
const table: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  open: {
    ...{ update: "open", add_artifact: "open", add_receipt: "open", start_run: "open" },
    ...{ evaluate: "open", explain: "open", export: "open", attach: "attached", archive: "archived" },
  },
  archived: { evaluate: "archived", explain: "archived", export: "archived" },
};

for (const status of Object.keys(table)) {
  for (const [call, requestOf] of Object.entries(calls)) {
    const next = table[status]![call];
    test(`${call} of a pack that is ${status} ${next === undefined ? "is refused with what is possible" : "is possible"}`, async () => {
      const pack = await createPack(tenant, sandbox);
      await pack.add(routing);
      if (status === "archived") await tenant.ok("POST", `${pack.path}:archive`, {});
      const before = (await tenant.ok("GET", pack.path)).data;
      const [method, path, body] = requestOf(pack);
      const response = await tenant.rest.call(method, path, body);
      const after = (await tenant.ok("GET", pack.path)).data;
      assert.equal(after.status, next ?? status);
      assert.deepEqual(after.possible_calls, Object.keys(table[next ?? status]!));
      if (next !== undefined) return assert.equal(response.status, 200, response.text);
      assert.equal(response.body.errorCode, "FAILED_PRECONDITION", response.text);
      assert.equal(response.body.current_status, status);
      assert.deepEqual(response.body.possible_calls, Object.keys(table[status]!));
      assert.deepEqual(after, before);
    });
  }
}

test("every artifact, receipt and change of demands makes a revision with a digest of its own", async () => {
  const pack = await createPack(tenant, sandbox, { description: "first", required_types: ["canary"] });
  const seen: [revision: number, digest: string][] = [];
  const note = async () => {
    const { revision, digest } = (await tenant.ok("GET", pack.path)).data;
    seen.push([revision, digest]);
  };
  await note();
  await pack.add(routing);
  await note();
  await pack.add(artifactOf("routing", "leads", "2"));
  await note();
  await pack.receipt("scenario", [artifactOf("routing", "leads", "2")]);
  await note();
  const { data } = await tenant.ok("PUT", pack.path, { name: "renamed", record_version: 4 });
  await note();
  assert.deepEqual(
    seen.map(([revision]) => revision),
    [1, 2, 3, 4, 5],
  );
  assert.equal(new Set(seen.map(([, digest]) => digest)).size, 5);
  // A replacement removes what it leaves out.
  assert.deepEqual([data.name, data.description, data.required_types], ["renamed", "", []]);
  assert.deepEqual(
    data.artifacts.map(({ kind, name, version }: ResponseData) => [kind, name, version]),
    [["routing", "leads", "2"]],
  );
  await tenant.refused("VERSION_CONFLICT", "PUT", pack.path, { name: "late", record_version: 4 });
});

test("packs are listed by environment and status", async () => {
  const own = await newTenant(service);
  const staging = await environmentId(own, "staging");
  const production = await environmentId(own, "production");
  const first = await createPack(own, staging);
  const second = await createPack(own, production);
  await own.ok("POST", `${second.path}:archive`, {});
  const ids = async (query: string) =>
    (await own.ok("GET", `/api/rollout-evidence/packs?${query}`)).data.map(({ id }: ResponseData) => id);
  assert.deepEqual(await ids(""), [first.id, second.id]);
  assert.deepEqual(await ids(`environment_id=${staging}`), [first.id]);
  assert.deepEqual(await ids("status=archived"), [second.id]);
});

test("a pack of another tenant, or at another environment, does not exist", async () => {
  const pack = await createPack(tenant, sandbox);
  await pack.add(routing);
  const { id: runId } = await pack.startRun({ type: "scenario" });
  const stranger = await newTenant(service);
  const elsewhere = pack.path.replace(sandbox, await environmentId(tenant, "production"));
  for (const [call, requestOf] of Object.entries(calls)) {
    const [method, path, body] = requestOf(pack);
    assert.equal((await stranger.rest.call(method, path, body)).status, 404, call);
    const moved = path.replace(pack.path, elsewhere);
    assert.equal((await tenant.rest.call(method, moved, body)).status, 404, call);
  }
  for (const verb of ["", ":heartbeat", ":cancel"]) {
    const [method, body] = verb === "" ? ["GET"] : ["POST", {}];
    assert.equal((await stranger.rest.call(method!, pack.runPath(runId) + verb, body)).status, 404, verb);
  }
});

test("a caller for production neither sees nor uses packs of a sandbox", async () => {
  const pack = await createPack(tenant, sandbox);
  const caller = await tenant.caller({ roles: ["operator"], environment_mode: "production_only" });
  for (const [call, requestOf] of Object.entries(calls)) {
    const { status, text } = await caller.call(...requestOf(pack));
    assert.equal(status, 403, `${call}: ${text}`);
  }
  const visible = await createPack(tenant, await environmentId(tenant, "production"));
  const { body } = await caller.call("GET", "/api/rollout-evidence/packs");
  const ids = body.data.map(({ id }: ResponseData) => id);
  assert.deepEqual([ids.includes(visible.id), ids.includes(pack.id)], [true, false]);
});

test("a worker collects evidence with the role service, and changes nothing else", async () => {
  const pack = await createPack(tenant, sandbox);
  await pack.add(routing);
  const worker = await tenant.caller({ roles: ["service"] });
  const may = ["add_receipt", "start_run", "evaluate", "explain"];
  for (const [call, requestOf] of Object.entries(calls)) {
    const { status, text } = await worker.call(...requestOf(pack));
    assert.equal(status, may.includes(call) ? 200 : 403, `${call}: ${text}`);
  }
});

test("a pack has at most a hundred artifacts, and one of them can still be replaced", async () => {
  const pack = await createPack(tenant, sandbox);
  for (let n = 0; n < 100; n++) await pack.add(artifactOf("report", `r${n}`));
  const path = `${pack.path}/artifacts`;
  await tenant.refused("FAILED_PRECONDITION", "POST", path, { artifact: artifactOf("report", "one-more") });
  await pack.add(artifactOf("report", "r7", "2"));
});
