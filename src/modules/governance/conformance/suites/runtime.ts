import type { SuiteSource } from "../sandbox/index.ts";
import { runControlCases } from "./run-control.ts";
import { createTwice } from "./steps/repeat-steps.ts";
import {
  completeTask,
  failTask,
  pollTask,
  publish,
  readEndedRun,
  readHistory,
  signalRun,
  startRun,
} from "./steps/workflow-steps.ts";
import { streamCases } from "./streams.ts";

const waitForGo = { id: "go", wait_event: { event: "go", timeout: "10m" } };
const quickRetry = { max_attempts: 2, initial: "100ms" };

/** Cases about the engine that executes workflow runs. */
export const runtimeSuite: SuiteSource = {
  id: "runtime",
  name: "Workflow runtime",
  description:
    "How workflow runs survive repeats, lost workers, early events and new versions, and what people do with them.",
  version: 4,
  defaults: { capabilities: ["workflows"], dryRun: false },
  cases: {
    "runtime.idempotent-replay": {
      guarantee: "A start that is repeated with its idempotency key is the same run.",
      async run(context) {
        const definition = await publish(context, [waitForGo]);
        await createTwice(context, "/api/workflow-runs", { definition }, { run_key: "other" }, (data) => data?.run?.id);
      },
    },
    "runtime.kill-resume": {
      guarantee: "A run continues when the worker of a step disappears.",
      async run(context) {
        const queue = context.name();
        const step = { id: "work", task: { queue, type: "work" }, timeout: { attempt: "1m", heartbeat: "3s" } };
        const definition = await publish(context, [{ ...step, retry: quickRetry }], "=steps.work.by");
        const { id } = await startRun(context, definition);
        const abandoned = await pollTask(context, queue, "lost");
        context.expect("number of the first attempt", abandoned.attempt, 1);
        const taken = await pollTask(context, queue, "second");
        context.expect("number of the second attempt", taken.attempt, 2);
        const report = await completeTask(context, taken, { by: "second" });
        context.expect("report of the second worker", report, "completed");
        const run = await readEndedRun(context, id);
        context.expect("status of the run", run.status, "succeeded");
        context.expect("its output is that of the second worker", run.output ?? "", "second");
      },
    },
    "runtime.lease-fencing": {
      guarantee: "A worker that lost its task cannot complete the step.",
      async run(context) {
        const queue = context.name();
        const step = { id: "work", task: { queue, type: "work" }, timeout: { attempt: "1m" }, retry: quickRetry };
        const definition = await publish(context, [step], "=steps.work.by");
        const { id } = await startRun(context, definition);
        const first = await pollTask(context, queue, "first");
        await failTask(context, first, { retry_after_s: 0 });
        const second = await pollTask(context, queue, "second");
        context.expect("report of the first worker", await completeTask(context, first, { by: "first" }), "stale");
        const report = await completeTask(context, second, { by: "second" });
        context.expect("report of the second worker", report, "completed");
        const run = await readEndedRun(context, id);
        context.expect("the run's output is that of the second worker", run.output ?? "", "second");
      },
    },
    "runtime.wait-before-event": {
      guarantee: "An event that arrives before a run waits for it is not lost.",
      async run(context) {
        const early = { id: "early", wait_event: { event: "early", timeout: "10m" } };
        const definition = await publish(context, [waitForGo, early]);
        const { id } = await startRun(context, definition);
        await signalRun(context, id, "early");
        const { status } = await context.data("GET", `/api/workflow-runs/${id}`);
        context.expect("status after the early event", status, "waiting");
        await signalRun(context, id, "go");
        context.expect("status after the other event", (await readEndedRun(context, id)).status, "succeeded");
      },
    },
    "runtime.timer-fires-once": {
      guarantee: "A timer fires once, and not before its time.",
      async run(context) {
        const definition = await publish(context, [{ id: "nap", wait_timer: { for: "1s" } }]);
        const { id, created_at } = await startRun(context, definition);
        const run = await readEndedRun(context, id);
        context.expect("status of the run", run.status, "succeeded");
        context.expect("it waited for its time", Date.parse(run.ended_at) - Date.parse(created_at) >= 1000, true);
        const history = await readHistory(context, id);
        const count = (wanted: string) => history.filter((kind) => kind === wanted).length;
        context.expect("how often the timer started", count("timer_started"), 1);
        context.expect("how often its step completed", count("step_completed"), 1);
      },
    },
    "runtime.version-pinned": {
      guarantee: "A run keeps the version of the definition that it was started with.",
      async run(context) {
        const definition = await publish(context, [waitForGo], "first version");
        const { id } = await startRun(context, definition);
        await publish(context, [waitForGo], "second version");
        const later = await startRun(context, definition);
        context.expect("version of a new run", later.version, 2);
        await signalRun(context, id, "go");
        const run = await readEndedRun(context, id);
        context.expect("version of the earlier run", run.version, 1);
        context.expect("output of the earlier run", run.output ?? "", "first version");
      },
    },
    "runtime.cancel-stops-work": {
      guarantee: "A cancelled run ends, and the report of a worker that still works for it changes nothing.",
      async run(context) {
        const queue = context.name();
        const step = { id: "work", task: { queue, type: "work" }, timeout: { attempt: "1m" } };
        const { id } = await startRun(context, await publish(context, [step], "=steps.work.by"));
        const task = await pollTask(context, queue, "late");
        await context.send("POST", `/api/workflow-runs/${id}/cancel`, { body: {} });
        context.expect("report after the cancellation", await completeTask(context, task, { by: "late" }), "stale");
        context.expect("status of the run", (await readEndedRun(context, id)).status, "cancelled");
      },
    },
    ...runControlCases,
    ...streamCases,
  },
};
