import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../harness/run-size.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";

const node = await startService();
const [hostile, normal] = [await newTenant(node), await newTenant(node)];
/** Far more than a slice of the event loop: other processes may use the processors meanwhile. */
const delaySecondsMax = 15;

interface Document {
  readonly key: string;
  readonly steps: readonly object[];
  readonly output?: unknown;
}

const documentOf = (fields: Document) => ({ dsl: "1", timeout: "1h", ...fields });

async function publish(tenant: TenantFixture, fields: Document): Promise<void> {
  const document = documentOf(fields);
  const { status } = await tenant.rest.call("GET", `/api/workflow-definitions/${fields.key}`);
  if (status === 404) await tenant.ok("POST", "/api/workflow-definitions", { document });
  else await tenant.ok("PATCH", `/api/workflow-definitions/${fields.key}/draft`, { document });
  await tenant.ok("POST", `/api/workflow-definitions/${fields.key}/publish`, {});
}

const start = async (tenant: TenantFixture, definition: string, input: unknown = null): Promise<string> =>
  (await tenant.ok("POST", "/api/workflow-runs", { definition, input })).data.run.id;

const endOf = (tenant: TenantFixture, id: string): Promise<ResponseData> =>
  until(
    async () => (await tenant.ok("GET", `/api/workflow-runs/${id}?wait_s=5`)).data,
    ({ status }) => !["pending", "running", "waiting"].includes(status),
    120_000,
  );

/** Starts a run of a definition and returns it when it has ended. */
async function run(fields: Document, input: unknown = null): Promise<ResponseData> {
  await publish(hostile, fields);
  return endOf(hostile, await start(hostile, fields.key, input));
}

await publish(normal, {
  key: "normal",
  steps: [
    { id: "add", transform: "=input + 1" },
    { id: "pause", wait_timer: { for: "10ms" } },
  ],
  output: "=steps.add",
});

async function maxDelaySeconds(): Promise<number> {
  const metrics = await node.service.metrics.render();
  return Number(/^nodejs_eventloop_delay_seconds\{quantile="1"\} (\S+)$/m.exec(metrics)![1]);
}

/** Does something hostile while another tenant runs its workflows; fails if that tenant or /health stops. */
async function beside<T>(work: () => Promise<T>): Promise<T> {
  await maxDelaySeconds();
  let isDone = false;
  const working = work().finally(() => {
    isDone = true;
  });
  let ended = 0;
  for (; !isDone || ended === 0; ended++) {
    const { status, output } = await endOf(normal, await start(normal, "normal", ended));
    assert.deepEqual([status, output], ["succeeded", ended + 1]);
    assert.equal((await fetch(`${node.baseUrl}/health`)).status, 200);
  }
  const result = await working;
  const delayS = await maxDelaySeconds();
  assert.ok(delayS < delaySecondsMax, `the event loop was blocked for ${delayS} s`);
  return result;
}

/** Asserts that a document was refused with a code. */
function assertRefused({ body, text }: { readonly body: ResponseData; readonly text: string }): void {
  assert.ok(["INVALID_ARGUMENT", "FAILED_PRECONDITION"].includes(body.errorCode), text);
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

test("10,000 steps in one run complete beside another tenant", async () => {
  const steps = [
    { id: "each", map: { in: "=input", max_items: 9999, steps: [{ id: "add", transform: "=item + 1" }] } },
  ];
  const { status, output } = await beside(() =>
    run({ key: "steps", steps, output: "=size(steps.each)" }, numbers(9999)),
  );
  assert.deepEqual([status, output], ["succeeded", 9999]);
});

test("a map of 10,000 elements and maps inside maps complete or fail with a code", async () => {
  const inner = { id: "inner", map: { in: "=item", max_items: 98, steps: [{ id: "two", transform: "=item * 2" }] } };
  const steps = [{ id: "outer", map: { in: "=input", max_items: 100, max_parallel: 100, steps: [inner] } }];
  const input = numbers(100).map(() => numbers(98));
  const { status, output } = await beside(() => run({ key: "maps", steps, output: "=size(steps.outer)" }, input));
  assert.deepEqual([status, output], ["succeeded", 100]);
  const large = await run(
    { key: "maps", steps },
    numbers(101).map(() => []),
  );
  assert.deepEqual([large.status, large.error.code], ["failed", "map_too_large"]);
});

test("definitions that could need more steps, or that nest too deep, are refused", async () => {
  let nested: object[] = [{ id: "leaf", transform: 1 }];
  for (let level = 0; level < 40; level++) nested = [{ id: `l${level}`, branch: [{ when: true, steps: nested }] }];
  const refused: Document[] = [
    { key: "deep", steps: nested },
    { key: "wide", steps: numbers(501).map((n) => ({ id: `s${n}`, transform: n })) },
    {
      key: "more",
      steps: [{ id: "each", map: { in: [], max_items: 10_000, steps: [{ id: "x", transform: 1 }] } }],
    },
  ];
  for (const fields of refused) {
    const answer = await hostile.rest.call("POST", "/api/workflow-definitions", { document: documentOf(fields) });
    const published =
      answer.status === 200
        ? await hostile.rest.call("POST", `/api/workflow-definitions/${fields.key}/publish`, {})
        : answer;
    assertRefused(published);
  }
  const text = `{"dsl":"1","key":"bomb","timeout":"1h","steps":[{"id":"x","transform":${"[".repeat(50_000)}${"]".repeat(50_000)}}]}`;
  const imported = await beside(() =>
    hostile.rest.call("POST", "/api/workflow-definitions:import", { text, format: "json" }),
  );
  assertRefused(imported);
});

test("expressions that cost too much fail with a code, and many that almost do leave room for another tenant", async () => {
  const bomb = "=input.all(a, input.all(b, input.all(c, a + b + c >= 0)))";
  const { status, error } = await beside(() =>
    run({ key: "bomb", steps: [{ id: "x", transform: bomb }] }, numbers(300)),
  );
  assert.deepEqual([status, error.code, error.step], ["failed", "expression_error", "x"]);
  const almost = "=size(input.filter(a, input.all(b, a + b >= 0)))";
  const condition = {
    id: "each",
    map: { in: "=input", max_items: 400, steps: [{ id: "y", branch: [{ when: `${almost} > 0`, steps: [] }] }] },
  };
  const steps = [condition, ...numbers(200).map((n) => ({ id: `z${n}`, transform: almost }))];
  const costly = await beside(() => run({ key: "almost", steps, output: 1 }, numbers(60)));
  assert.equal(costly.status, "succeeded", JSON.stringify(costly.error));
});

test("values that grow beyond the limit of a run fail it with a code", async () => {
  const big = "x".repeat(100_000);
  const grow = { id: "each", map: { in: "=input.l", max_items: 5000, steps: [{ id: "x", transform: "=input.big" }] } };
  const { status, error } = await beside(() => run({ key: "grow", steps: [grow] }, { big, l: numbers(5000) }));
  assert.deepEqual([status, error.code], ["failed", "state_too_large"]);
  const double = numbers(400).map((n) => ({
    id: `s${n}`,
    transform: n === 0 ? "=input + input" : `=steps.s${n - 1} + steps.s${n - 1}`,
  }));
  const doubled = await beside(() => run({ key: "double", steps: double }, big));
  assert.deepEqual([doubled.status, doubled.error.code], ["failed", "expression_error"]);
  const nest = numbers(400).map((n) => ({ id: `s${n}`, transform: n === 0 ? "=input" : `=[steps.s${n - 1}]` }));
  const nested = await beside(() => run({ key: "nest", steps: nest }, 1));
  assert.deepEqual([nested.status, nested.error.code], ["failed", "expression_error"]);
});

test("large outputs that no step reads do not block another tenant", async () => {
  const big = "x".repeat(100_000);
  const inside = [
    { id: "x", transform: "=input.big" },
    { id: "y", transform: 1 },
  ];
  const drop = { id: "each", map: { in: "=input.l", max_items: 4999, steps: inside } };
  const count = sized(200, 4999);
  const { status, error } = await beside(() =>
    run({ key: "drop", steps: [drop], output: 1 }, { big, l: numbers(count) }),
  );
  assert.ok(status === "succeeded" || error.code === "state_too_large", JSON.stringify(error));
});

test("runs nest 8 levels deep at most, and definitions cannot lead back to themselves", async () => {
  await publish(hostile, { key: "chain.9", steps: [{ id: "end", transform: 1 }] });
  for (let n = 8; n >= 0; n--) {
    await publish(hostile, { key: `chain.${n}`, steps: [{ id: "next", subworkflow: { key: `chain.${n + 1}` } }] });
  }
  const allowed = await beside(async () => endOf(hostile, await start(hostile, "chain.1")));
  assert.deepEqual([allowed.status, allowed.output], ["succeeded", 1]);
  const refused = await beside(async () => endOf(hostile, await start(hostile, "chain.0")));
  assert.deepEqual([refused.status, refused.error.code], ["failed", "subworkflow_failed"]);

  // A cycle through a definition that is published later.
  await publish(hostile, { key: "ring.a", steps: [{ id: "end", transform: 1 }] });
  await publish(hostile, { key: "ring.b", steps: [{ id: "next", subworkflow: { key: "ring.a" } }] });
  const document = documentOf({ key: "ring.a", steps: [{ id: "next", subworkflow: { key: "ring.b" } }] });
  await hostile.ok("PATCH", "/api/workflow-definitions/ring.a/draft", { document });
  const closed = await hostile.rest.call("POST", "/api/workflow-definitions/ring.a/publish", {});
  assertRefused(closed);
});

test("two definitions that are published at the same time and lead to each other run into the limit of nesting", async () => {
  for (const key of ["pair.a", "pair.b"]) await publish(hostile, { key, steps: [{ id: "end", transform: 1 }] });
  const lead = async (key: string, to: string) => {
    const document = documentOf({ key, steps: [{ id: "next", subworkflow: { key: to } }] });
    await hostile.ok("PATCH", `/api/workflow-definitions/${key}/draft`, { document });
  };
  await Promise.all([lead("pair.a", "pair.b"), lead("pair.b", "pair.a")]);
  await Promise.all(
    ["pair.a", "pair.b"].map((key) => hostile.rest.call("POST", `/api/workflow-definitions/${key}/publish`, {})),
  );
  const { status, error } = await beside(async () => endOf(hostile, await start(hostile, "pair.a")));
  assert.ok(status === "succeeded" || error.code === "subworkflow_failed", JSON.stringify(error));
});

test("a tree of runs that grows without end stops when its root is cancelled", async () => {
  const tree = (key: string, next: string) =>
    publish(hostile, {
      key,
      steps: [
        {
          id: "each",
          map: { in: numbers(6), max_items: 6, steps: [{ id: "sub", subworkflow: { key: next } }] },
        },
      ],
    });
  await publish(hostile, { key: "tree.8", steps: [{ id: "wait", wait_event: { event: "never", timeout: "1h" } }] });
  for (let n = 7; n >= 0; n--) await tree(`tree.${n}`, `tree.${n + 1}`);
  const count = async (status: string) =>
    (await hostile.ok("GET", `/api/workflow-runs?limit=1&status=${status}`)).data.length;
  await beside(async () => {
    const root = await start(hostile, "tree.0");
    await until(
      async () => (await hostile.ok("GET", "/api/workflow-runs?limit=1")).total,
      (total) => total > 150,
    );
    await hostile.ok("POST", `/api/workflow-runs/${root}/cancel`, {});
    await until(
      async () => (await count("running")) + (await count("waiting")),
      (open) => open === 0,
      120_000,
    );
  });
});

test("a start that fails in its first advance starts no child", async () => {
  const branches = {
    child: [{ id: "sub", subworkflow: { key: "tree.8" } }],
    broken: [{ id: "broken", fail: { code: "broken" } }],
  };
  const parent = await run({ key: "both", steps: [{ id: "p", parallel: { branches } }] });
  assert.deepEqual([parent.status, parent.error.code], ["failed", "broken"]);
  const { data } = await hostile.ok("GET", `/api/workflow-runs?parent_run_id=${parent.id}`);
  assert.deepEqual(data, []);
});
