import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  type Client,
  cel,
  createClient,
  createWorkflowWorker,
  defineWorkflow,
  WorkFailure,
  type WorkflowWorkerOptions,
} from "../../clients/typescript/src/node.ts";
import { parseDefinition } from "../../src/modules/workflows/definitions/domain/language/syntax/parse-definition.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";

interface Lead {
  readonly id: string;
  readonly country: string;
  readonly documents: readonly { readonly url: string }[];
}

describe("workflows of the client", () => {
  let service: TestService;
  let client: Client;

  before(async () => {
    service = await startService();
    client = createClient({ baseUrl: service.baseUrl, apiKey: service.adminKey });
  });

  async function publish({ document }: { readonly document: object }): Promise<void> {
    const { id } = await client.workflowDefinitions.create({ document });
    await client.workflowDefinitions.publish({ id });
  }

  /** Runs a worker while something else happens. */
  async function whileWorking<Result>(options: WorkflowWorkerOptions, act: () => Promise<Result>, drainMs = 5_000) {
    const stop = new AbortController();
    const running = createWorkflowWorker(client, options).run({ signal: stop.signal, drainMs });
    try {
      return await Promise.race([act(), running.then(() => assert.fail("the worker ended"))]);
    } finally {
      stop.abort();
      await running;
    }
  }

  test("every kind of step becomes a valid document", () => {
    const { document } = defineWorkflow<Lead>(
      { key: "all.kinds", timeout: "14d", on_failure: "compensate", retry: { max_attempts: 2 } },
      (steps, { input, run }) => {
        const score = steps.task<{ value: number }>(
          "score",
          { queue: "ml", type: "lead.score", errors: ["quota"], with: { id: input.id, run: run.id } },
          {
            timeout: { attempt: "30s", heartbeat: "10s" },
            catch: [
              { on: ["quota"], steps: (inner, { err }) => inner.transform("guess", { value: 0, why: err.code }) },
            ],
            compensate: (output) => ({ task: { queue: "ml", type: "lead.forget", with: { value: output.value } } }),
          },
        );
        const picked = steps.branch<{ queue_item_id: string }>(
          "pick",
          [
            {
              when: cel`${score.value} > ${70}`,
              steps: (inner) => inner.route("assign", { pool: "sales", key: input.id }),
            },
          ],
          (inner) => {
            inner.waitTimer("later", { for: "1d" });
            return inner.transform("nobody", { queue_item_id: "" });
          },
        );
        steps.notify("tell", { workflow_key: "welcome", to: input.id, payload: { picked: picked.queue_item_id } });
        steps.action("issue", {
          action: "github.issue.create",
          connection: input.id,
          with: { title: "=not a formula" },
        });
        const variant = steps.experiment("variant", { key: "checkout", unit: input.id });
        steps.subworkflow("child", { key: "other", input: { variant: variant.variant } });
        const both = steps.parallel("both", {
          left: (inner) => inner.transform<number>("one", cel`1 + ${2}`),
          right: (inner) => inner.transform<string>("two", { text: "b" }),
        });
        const texts = steps.map("each", { in: input.documents, max_items: 10 }, (inner, { item, index }) =>
          inner.transform<string>("text", cel`${item.url} + string(${index})`),
        );
        steps.waitEvent("signed", { any: [{ event: "contract.signed", scope: input.id }], timeout: "7d" }, (inner) =>
          inner.fail("unsigned", { code: "unsigned", message: cel`"no contract of " + ${input.id}` }),
        );
        steps.waitUpdate<{ amount: number }>("change", {
          ...{ event: "amount", timeout: "7d", answer: "approve", input_schema: { type: "object" } },
          when: (update) => cel`${update.amount} > ${0}`,
        });
        steps.approval("approve", { by: ["role:operator"], timeout: "2d", title: cel`"Lead " + ${input.id}` });
        steps.streamAppend("log", { stream: "audit", value: { left: both.left } });
        const read = steps.streamRead("records", { stream: "audit" });
        steps.mapCollect("checked", { in: read.records, max_items: 5 }, (inner, { item }) =>
          inner.transform("copy", item),
        );
        steps.parallelCollect("rest", { a: (i) => i.transform("ra", 1), b: (i) => i.transform("rb", 2) });
        steps.branch("again", [
          { when: cel`${score.value} < ${0}`, steps: (inner) => inner.continueAsNew("next", { id: input.id }) },
        ]);
        return { score: score.value, first: texts[0] };
      },
    );
    const { definition, violations } = parseDefinition(document as never);
    assert.deepEqual(violations, []);
    assert.deepEqual(
      definition?.steps.map(({ work }) => work.kind),
      [
        ...["task", "branch", "notify", "action", "experiment", "subworkflow", "parallel", "map", "wait_event"],
        ...["wait_event", "approval", "stream_append", "stream_read", "map", "parallel", "branch"],
      ],
    );
    const written = JSON.stringify(document);
    for (const part of [
      '"when":"=steps.score.value > 70"',
      '"title":"==not a formula"',
      '"update":{"input_schema":{"type":"object"},"when":"=update.amount > 0","answer":"approve"}',
      '"continue_as_new":{"input":{"id":"=input.id"}}',
      '"with":{"value":"=steps.score.value"}',
      '"transform":"=item.url + string(index)"',
      '"output":{"score":"=steps.score.value","first":"=steps.each[0]"}',
    ]) {
      assert.ok(written.includes(part), part);
    }
  });

  test("mistakes are found by the compiler or when the document is written", () => {
    const write = (body: Parameters<typeof defineWorkflow<Lead>>[1]) =>
      defineWorkflow<Lead>({ key: "wrong", timeout: "1d" }, body);
    write((steps, { input }) => {
      // @ts-expect-error: the input has no such field.
      steps.transform("a", input.idd);
      // @ts-expect-error: not a duration.
      steps.waitTimer("b", { for: "1 day" });
      const score = steps.task<{ value: number }>("c", { queue: "q", type: "t" });
      // @ts-expect-error: the output has no such field.
      return score.values;
    });
    assert.throws(
      () => write((steps) => [steps.transform("a", 1), steps.transform("a", 2)]),
      /two steps have the id a/,
    );
    assert.throws(() => write((steps) => steps.transform("1st", 1)), /not a step id/);
    assert.throws(
      () =>
        write((steps) =>
          steps.branch("b", [
            {
              when: cel`true`,
              steps(inner) {
                const first = inner.transform<number>("first", 1);
                inner.transform("second", 2);
                return first;
              },
            },
          ]),
        ),
      /must return the output of its last step/,
    );
  });

  test("outputs that are large together are reported in several calls, and one that is no JSON fails its own task", async () => {
    const flow = defineWorkflow<{ n: number }>(
      { key: "large", timeout: "1d", retry: { max_attempts: 1 } },
      (steps, { input }) => {
        steps.task("write", { queue: "large", type: "text.write", with: { n: input.n } });
        return {};
      },
    );
    await publish(flow);
    const concurrency = 40;
    let started = 0;
    const options: WorkflowWorkerOptions = {
      queue: "large",
      concurrency,
      handlers: {
        async "text.write"({ n }) {
          started++;
          await until(() => started === concurrency);
          return n === 0 ? { count: 1n } : { text: "w".repeat(120_000) };
        },
      },
    };
    await whileWorking(options, async () => {
      const responses = await Promise.all(
        Array.from({ length: concurrency }, (_, n) => client.workflowRuns.start(flow.run({ n }, { wait_s: 20 }))),
      );
      const statuses = responses.map(({ run }) => run?.status);
      assert.deepEqual(statuses, ["failed", ...new Array(concurrency - 1).fill("succeeded")]);
    });
  });

  test("a worker runs the tasks of a defined workflow, with retries, progress and errors", async () => {
    const flow = defineWorkflow<{ url: string }>({ key: "documents", timeout: "1d" }, (steps, { input }) => {
      const read = steps.task<{ words: number }>(
        "read",
        { queue: "documents", type: "document.read", with: { url: input.url }, errors: ["unreadable"] },
        {
          timeout: { attempt: "1m", heartbeat: "5s" },
          retry: { max_attempts: 3, initial: "1ms" },
          catch: [{ on: ["unreadable"], steps: (inner) => inner.transform("none", { words: -1 }) }],
        },
      );
      return { words: read.words };
    });
    await publish(flow);
    const details: unknown[] = [];
    const options: WorkflowWorkerOptions = {
      queue: "documents",
      handlers: {
        async "document.read"({ url }, { task, report }) {
          if (url === "b") throw new WorkFailure("no such document", { code: "unreadable", retryable: false });
          if (url === "c") throw Object.assign(new Error("locked"), { code: "unreadable", retryable: false });
          details.push(task.details);
          if (task.attempt > 1) return { words: 120 * task.attempt };
          report({ page: 3 });
          // Longer than the time between heartbeats, so only heartbeats keep the task.
          await new Promise((resolve) => setTimeout(resolve, 5_500));
          throw new Error("the disk was busy");
        },
      },
    };
    await whileWorking(options, async () => {
      const [a, b, c] = await Promise.all(
        ["a", "b", "c"].map((url) => client.workflowRuns.start(flow.run({ url }, { wait_s: 20 }))),
      );
      assert.deepEqual([a!.run?.status, a!.run?.output], ["succeeded", { words: 240 }]);
      assert.deepEqual([b!.run?.status, b!.run?.output], ["succeeded", { words: -1 }]);
      assert.deepEqual([c!.run?.status, c!.run?.output], ["succeeded", { words: -1 }]);
    });
    assert.deepEqual(details, [undefined, { page: 3 }]);
  });

  test("a worker that must stop gives its tasks back without using up an attempt", async () => {
    const flow = defineWorkflow({ key: "slow", timeout: "1d" }, (steps) => {
      steps.task("work", { queue: "slow", type: "slow.work" }, { retry: { max_attempts: 1 } });
    });
    await publish(flow);
    const attempts: number[] = [];
    const slow: WorkflowWorkerOptions = {
      queue: "slow",
      handlers: {
        async "slow.work"(_input, { task, signal }) {
          attempts.push(task.attempt);
          await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        },
      },
    };
    const { run } = await client.workflowRuns.start(flow.run({}));
    await whileWorking(slow, () => until(() => attempts.length === 1), 1);
    const quick = {
      ...slow,
      handlers: { "slow.work": async (_: unknown, { task }: { task: { attempt: number } }) => task.attempt },
    };
    await whileWorking(quick, async () => {
      const ended = await client.workflowRuns.get({ run_id: run!.id, wait_s: 20 });
      assert.deepEqual([ended.status, ended.output], ["succeeded", 1]);
    });
  });
});
