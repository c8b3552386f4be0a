import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";

let service: TestService;
let own: TenantFixture;
let sql: TestSql;
before(async () => {
  service = await startService();
  own = await newTenant(service);
  sql = connect(service.databaseUrl, 2);
});
after(() => sql.end({ timeout: 1 }));

const document = {
  dsl: "1",
  key: "lead.onboard",
  timeout: "14d",
  on_failure: "compensate",
  steps: [
    {
      ...{ id: "score", task: { queue: "ml", type: "lead.score", errors: ["quota"] }, with: { id: "=input.id" } },
      ...{ retry: { max_attempts: 2, initial: "10s" } },
      catch: [{ on: ["quota"], steps: [{ id: "fallback", transform: { value: 0 } }] }],
    },
    {
      id: "pick",
      branch: [
        {
          when: "=steps.score.value > 70",
          steps: [
            {
              ...{ id: "assign", task: { queue: "crm", type: "assign" } },
              compensate: { task: { queue: "crm", type: "unassign" }, with: { id: "=input.id" } },
            },
          ],
        },
        { else: [{ id: "later", wait_timer: { for: "1d" } }] },
      ],
    },
    { id: "signed", wait_event: { event: "contract.signed", scope: "=input.id", timeout: "7d" } },
    { id: "ok", approval: { by: ["role:operator"], timeout: "2d" } },
  ],
  output: { score: "=steps.score.value", by: "=steps.ok.decisions[0].by" },
};
const events = [{ event: "contract.signed", scope: "c1", payload: { page: 2 }, after_s: 3600 }];
const decisions = [
  { step: "ok", by: "eve", approved: false, after_s: 1 },
  { step: "ok", by: "ann", roles: ["operator"], approved: true, after_s: 60 },
];

async function simulate(request: object): Promise<ResponseData> {
  return (await own.ok("POST", "/api/workflow-runs:simulate", { input: { id: "c1" }, ...request })).data;
}

const pathOf = (simulation: ResponseData): string[] =>
  simulation.path.map(
    (each: ResponseData) => `${each.step} ${each.outcome} ${each.started_s ?? 0}-${each.ended_s ?? 0}`,
  );

test("a published version and a document are simulated alike, and nothing is stored", async () => {
  const created = (await own.ok("POST", "/api/workflow-definitions", { document })).data;
  await own.ok("POST", `/api/workflow-definitions/${created.id}/publish`, {});
  const countRows = async () =>
    (
      await sql`
        select (select count(*) from workflow_runs) as runs, (select count(*) from workflow_run_archive) as ended,
          (select count(*) from workflow_tasks) as tasks, (select count(*) from workflow_history) as history,
          (select count(*) from workflow_mailbox) as mail, (select count(*) from workflow_approvals) as approvals, (select count(*) from events) as events`
    )[0];
  const rows = await countRows();
  const request = { events, decisions, stubs: { score: { output: { value: 80 }, after_s: 5 } } };
  const byKey = await simulate({ ...request, definition: "lead.onboard" });
  const byDocument = await simulate({ ...request, document });
  const withoutTimes = ({ path }: ResponseData) => JSON.stringify(path).replaceAll(/"at":"[^"]*"/g, "");
  assert.equal(withoutTimes(byKey), withoutTimes(byDocument));
  assert.deepEqual(await countRows(), rows);
  assert.deepEqual([byKey.status, byKey.output, byKey.duration_s], ["succeeded", { score: 80, by: "ann" }, 3660]);
  assert.deepEqual(pathOf(byKey), [
    "score completed 0-5",
    "pick completed 5-5",
    "assign completed 5-5",
    "signed completed 5-3600",
    "ok completed 3600-3660",
  ]);
  const [score, pick, assign, signed, ok] = byKey.path;
  assert.deepEqual([score.input, score.output, score.attempts, score.kind], [{ id: "c1" }, { value: 80 }, 1, "task"]);
  assert.equal(pick.arm, "0");
  assert.deepEqual([assign.output, assign.default_output], [{}, true]);
  assert.deepEqual(signed.input, { any: [{ event: "contract.signed", scope: "c1" }] });
  assert.deepEqual([signed.output.payload, ok.output.approved], [{ page: 2 }, true]);
  assert.deepEqual(byKey.steps_without_stub, ["assign"]);
  assert.match(byKey.notes[0], /^The decision of eve on ok was ignored: this approval is for role:operator\.$/);
  const { commits, steps, tasks, effects } = byKey.cost;
  assert.deepEqual([commits, steps, tasks, effects], [5, 5, 2, 0]);
});

test("errors are retried and caught like in a real run", async () => {
  const quota = { error: { code: "quota", message: "too many" } };
  const caught = await simulate({ document, stubs: { score: quota }, max_time_s: 3600 });
  assert.deepEqual([caught.status, caught.stopped_by, caught.duration_s], ["waiting", "max_time", 3600]);
  assert.deepEqual(pathOf(caught), [
    "score caught 0-10",
    "fallback completed 10-10",
    "pick open 10-3600",
    "later open 10-3600",
  ]);
  assert.deepEqual([caught.path[0].attempts, caught.path[0].error.message], [2, "too many"]);
  assert.deepEqual(caught.path[0].output, { value: 0 });

  const second = { outputs: [quota, { output: { value: 71 } }] };
  const retried = await simulate({ document, stubs: { score: second }, events, decisions });
  assert.deepEqual([retried.status, retried.path[0].attempts, retried.path[0].ended_s], ["succeeded", 2, 10]);
});

test("a run that nobody answers times out in virtual time and compensates", async () => {
  const stubs = {
    score: { output: { value: 99 } },
    "~assign": { error: { code: "task_failed", not_retryable: true } },
  };
  const simulation = await simulate({ document, stubs });
  assert.deepEqual([simulation.status, simulation.error.code], ["failed", "wait_timeout"]);
  assert.deepEqual(pathOf(simulation).slice(-2), ["signed failed 0-604800", "~assign failed 604800-604800"]);
  assert.deepEqual(simulation.path.at(-1).input, { id: "c1" });
  assert.equal(simulation.error.details.failed_compensations[0].step, "assign");
});

test("maps and parallels are shown before the steps inside them, element by element", async () => {
  const steps = [
    {
      id: "docs",
      map: {
        ...{ in: "=input.docs", max_items: 10, max_parallel: 1, on_error: "collect" },
        steps: [{ id: "ocr", task: { queue: "q", type: "ocr" }, retry: { max_attempts: 1 } }],
      },
    },
    {
      id: "both",
      parallel: {
        branches: { a: [{ id: "x", transform: "=input.docs.map(d, d + '!')" }], b: [{ id: "y", transform: 2 }] },
      },
    },
  ];
  const stubs = {
    ocr: { output: "text", after_s: 1 },
    "ocr[1]": { error: { code: "task_failed" } },
    "ocr[7]": { output: 0 },
  };
  const simulation = await simulate({
    ...{ document: { dsl: "1", key: "k", timeout: "1d", steps }, input: { docs: ["a", "b", "c"] }, stubs },
  });
  assert.deepEqual(pathOf(simulation), [
    "docs completed 0-2",
    "ocr[0] completed 0-1",
    "ocr[1] failed 1-1",
    "ocr[2] completed 1-2",
    "both completed 2-2",
    "x completed 2-2",
    "y completed 2-2",
  ]);
  assert.deepEqual([simulation.output, simulation.unused_stubs], [{ a: ["a!", "b!", "c!"], b: 2 }, ["ocr[7]"]]);
  assert.ok(simulation.cost.expression_steps > 0);
});

test("a simulation is bounded", async () => {
  const inner = { id: "inner", map: { in: "=input.list", max_items: 90, steps: [{ id: "x", transform: "=item" }] } };
  const outer = { id: "outer", map: { in: "=input.list", max_items: 90, steps: [inner] } };
  const large = { dsl: "1", key: "k", timeout: "1d", steps: [outer] };
  const list = Array.from({ length: 90 }, (_, nth) => nth);
  const whole = await simulate({ document: large, input: { list } });
  assert.deepEqual([whole.status, whole.path.length], ["succeeded", 1 + 90 + 8100]);

  const text = "x".repeat(30_000);
  const holding = {
    id: "m",
    map: { in: "=input.list", max_items: 90, steps: [{ id: "x", transform: "=input.text" }] },
  };
  const tooLarge = await simulate({
    document: { ...large, steps: [holding, { id: "w", wait_timer: { for: "1d" } }] },
    input: { list, text },
  });
  assert.deepEqual([tooLarge.status, tooLarge.error.code], ["failed", "state_too_large"]);
});

test("requests that cannot be simulated say why", async () => {
  const refused = async (request: object) => {
    const { status, body } = await own.rest.call("POST", "/api/workflow-runs:simulate", request);
    return [status, JSON.stringify(body)] as const;
  };
  const cases: [object, number, RegExp][] = [
    [{}, 400, /document must be set/],
    [{ definition: "lead.onboard", document }, 400, /not both/],
    [{ definition: "nowhere" }, 404, /no published workflow definition/],
    [{ document, stubs: { scor: { output: 1 } } }, 400, /did you mean score\?/],
    [
      { document, stubs: { pick: { output: 1 } } },
      400,
      /no task, route, notify, action, experiment, subworkflow or stream step/,
    ],
    [{ document, decisions: [{ step: "oh", by: "ann" }] }, 400, /decisions\[0\]\.step/],
    [{ document: { ...document, steps: [{ id: "a", transform: "=steps.b" }] } }, 400, /document\.steps\[0\]/],
    [{ document: { dsl: "1" } }, 400, /document/],
    [{ document, environment_id: "nowhere" }, 404, /environment/],
  ];
  for (const [request, status, text] of cases) {
    const [actual, body] = await refused(request);
    assert.equal(actual, status, body);
    assert.match(body, text);
  }
});
