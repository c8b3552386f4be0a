import type { CaseSource, Json } from "../sandbox/index.ts";
import { createKey } from "./steps/key-steps.ts";
import {
  completeTask,
  failTask,
  findTasks,
  pollTask,
  publish,
  readEndedRun,
  signalRun,
  startRun,
} from "./steps/workflow-steps.ts";

const waitForGo = (id: string) => ({ id, wait_event: { event: "go", timeout: "10m" } });

/** Cases about what callers and people do with runs. */
export const runControlCases: Readonly<Record<string, CaseSource>> = {
  "runtime.signal-once": {
    guarantee: "An event that is sent twice with its id is consumed once, and a run that has ended takes none.",
    async run(context) {
      const { id } = await startRun(context, await publish(context, [waitForGo("first"), waitForGo("second")]));
      const signal = (event_id: string) => signalRun(context, id, "go", { event_id });
      context.expect("the first is a duplicate", (await signal("1")).duplicate, false);
      context.expect("the second is a duplicate", (await signal("1")).duplicate, true);
      const { status } = await context.data("GET", `/api/workflow-runs/${id}`);
      context.expect("status after the repeat", status, "waiting");
      await signal("2");
      context.expect("status after another event", (await readEndedRun(context, id)).status, "succeeded");
      const late = await context.send("POST", `/api/workflow-runs/${id}/signal`, { body: { event: "go" } });
      context.expect("an event after the end", late.code, "FAILED_PRECONDITION");
    },
  },
  "runtime.approval-quorum": {
    guarantee: "An approval takes as many people as it says, each of whom counts once and may decide.",
    async run(context) {
      const by = ["role:admin", "role:workflow_approver"];
      const steps = [{ id: "approve", approval: { by, quorum: 2, timeout: "10m", title: "Conformance" } }];
      const { id } = await startRun(context, await publish(context, steps));
      const path = `/api/workflow-runs/${id}/approvals/approve/decide`;
      const decide = (options: object = {}) => context.send("POST", path, { ...options, body: { approved: true } });
      const { caller } = await createKey(context, "workflow_approver");
      context.expect("a decision without the scope", (await decide({ as: "viewer" })).code, "PERMISSION_DENIED");
      context.expect("status after one decision", (await decide()).body?.data?.status ?? "", "waiting");
      context.expect("status of a second decision of the same caller", (await decide()).status < 300, false);
      context.expect("status after two decisions", (await decide(caller)).body?.data?.status ?? "", "succeeded");
    },
  },
  "runtime.pause-holds-work": {
    guarantee: "A paused run starts no step, and continues where it was.",
    async run(context) {
      const queue = context.name();
      const steps = [waitForGo("go"), { id: "work", task: { queue, type: "work" } }];
      const { id } = await startRun(context, await publish(context, steps));
      await context.send("POST", `/api/workflow-runs/${id}/pause`, { body: {} });
      await signalRun(context, id, "go");
      context.expect("tasks of the paused run", (await findTasks(context, queue, 1)).length, 0);
      await context.send("POST", `/api/workflow-runs/${id}/resume`, { body: {} });
      const report = await completeTask(context, await pollTask(context, queue), {});
      context.expect("report after the resumption", report, "completed");
      context.expect("status of the run", (await readEndedRun(context, id)).status, "succeeded");
    },
  },
  "runtime.run-key-unique": {
    guarantee: "While a run with a key is in progress, a start with the key is the same run.",
    async run(context) {
      const definition = await publish(context, [waitForGo("go")]);
      const start = () => context.data("POST", "/api/workflow-runs", { definition, run_key: "k" });
      const started = await Promise.all([start(), start(), start()]);
      context.expect("runs with the key", new Set(started.map(({ run }) => run.id)).size, 1);
      await signalRun(context, started[0].run.id, "go");
      await readEndedRun(context, started[0].run.id);
      context.expect("a start after the end is a new run", (await start()).started, true);
    },
  },
  "runtime.event-trigger": {
    guarantee: "An event that matches a trigger starts one run, and others start none.",
    async run(context) {
      const definition = await publish(context, [waitForGo("go")]);
      const condition = `event.subject == "${definition}" && event.data.n > 1`;
      await context.data("POST", "/api/workflow-triggers", {
        ...{ name: definition, definition, event: { types: ["checks.triggered"], condition } },
        run_key: '="n-" + string(event.data.n)',
      });
      for (const n of [1, 2]) {
        await context.data("POST", "/api/events", { type: "checks.triggered", subject: definition, data: { n } });
      }
      const list = () => context.data("GET", `/api/workflow-runs?definition_id=${definition}`);
      const runs = await context.until(list, (found) => found.some(({ run_key }: Json) => run_key === "n-2"));
      context.expect("keys of the runs", runs.map(({ run_key }: Json) => run_key).join(), "n-2");
    },
  },
  "runtime.retry-and-catch": {
    guarantee: "A failing task is attempted as often as its policy says, and its error is caught then.",
    async run(context) {
      const queue = context.name();
      const catches = [{ on: ["quota"], steps: [{ id: "fallback", transform: { by: "fallback" } }] }];
      const retry = { max_attempts: 2, initial: "100ms" };
      const step = { id: "work", task: { queue, type: "work", errors: ["quota"] }, retry, catch: catches };
      const { id } = await startRun(context, await publish(context, [step], "=steps.work.by"));
      for (const attempt of [1, 2]) {
        const task = await pollTask(context, queue);
        context.expect(`number of attempt ${attempt}`, task.attempt, attempt);
        await failTask(context, task, { code: "quota" });
      }
      const run = await readEndedRun(context, id);
      context.expect("status of the run", run.status, "succeeded");
      context.expect("its output is that of the fallback", run.output ?? "", "fallback");
    },
  },
  "runtime.explanation": {
    guarantee: "A run says what it waits for, and a queue that nobody serves is named.",
    async run(context) {
      const steps = [waitForGo("go"), { id: "work", task: { queue: context.name(), type: "work" } }];
      const { id } = await startRun(context, await publish(context, steps));
      const explain = async () =>
        (await context.data("GET", `/api/workflow-runs/${id}/explain`)).reasons?.[0]?.code ?? "";
      context.expect("reason of the wait", await explain(), "waiting_for_event");
      await signalRun(context, id, "go");
      context.expect("reason afterwards", await context.until(explain, (code) => code === "no_worker"), "no_worker");
    },
  },
  "runtime.compensation": {
    guarantee: "When a run fails, its completed steps are undone.",
    async run(context) {
      const queue = context.name();
      const task = { queue, type: "work" };
      const book = { id: "book", task, compensate: { task, with: { undo: "=steps.book.seat" } } };
      const fail = { id: "pay", fail: { code: "declined", message: "conformance" } };
      const definition = await publish(context, [book, fail], undefined, { on_failure: "compensate" });
      const { id } = await startRun(context, definition);
      await completeTask(context, await pollTask(context, queue), { seat: "12A" });
      const undo = await pollTask(context, queue);
      context.expect("what is undone", undo.input?.undo ?? "", "12A");
      await completeTask(context, undo, {});
      const run = await readEndedRun(context, id);
      context.expect("status of the run", run.status, "failed");
      context.expect("its error", run.error?.code === "declined", true);
    },
  },
  "runtime.dead-letter-replay": {
    guarantee: "A failed run is a dead letter, and its replay continues at the step that failed.",
    async run(context) {
      const queue = context.name();
      const task = { queue, type: "work" };
      const steps = [
        { id: "one", task, with: { step: "one" } },
        { id: "two", task, with: { step: "two" } },
      ];
      const { id } = await startRun(context, await publish(context, steps));
      await completeTask(context, await pollTask(context, queue), {});
      await failTask(context, await pollTask(context, queue), { retryable: false });
      context.expect("status of the run", (await readEndedRun(context, id)).status, "failed");
      const letter = await context.send("GET", `/api/workflow-dlq/${id}`);
      context.expect("state of the dead letter", letter.body?.data?.state ?? "", "open");
      await context.send("POST", `/api/workflow-dlq/${id}/replay`, { body: {} });
      const task2 = await pollTask(context, queue);
      context.expect("the step that is done again", task2.input?.step ?? "", "two");
      await completeTask(context, task2, {});
      const { state, replay_run_id } = await context.data("GET", `/api/workflow-dlq/${id}`);
      context.expect("state after the replay", state, "replayed");
      context.expect("status of the replay", (await readEndedRun(context, replay_run_id)).status, "succeeded");
    },
  },
};
