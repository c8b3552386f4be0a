import {
  createWorkflowTaskService,
  type LeasedWorkflowTask,
  type PollWorkflowTasksRequest,
  type WorkflowTaskResult,
} from "../gen/workflow-task.ts";
import type { Transport } from "../transport/transport.ts";
import type { LeaseState, Report, ReportOutcome, Worker, WorkerOptions, WorkProtocol } from "./work-protocol.ts";
import { createWorker } from "./worker.ts";

/** What a handler of tasks gets besides the input. */
export interface TaskContext {
  readonly task: LeasedWorkflowTask;
  /** Is aborted when the task is not needed any more, the lease is lost or the worker must stop. */
  readonly signal: AbortSignal;
  /** Stores the progress with the next heartbeat. A later attempt gets it as `task.details`. */
  readonly report: (progress: unknown) => void;
}

/** Runs a task: returns the output of the step, or throws. Tasks can arrive more than once. */
// biome-ignore lint/suspicious/noExplicitAny: the author of a handler knows the input of its step.
export type TaskHandler = (input: any, context: TaskContext) => Promise<unknown>;

/** Settings of a worker for workflow tasks. */
export interface WorkflowWorkerOptions extends WorkerOptions {
  readonly queue: string;
  /** A handler for each type of task. */
  readonly handlers: Readonly<Record<string, TaskHandler>>;
  /** The versions that each handler implements, by type; any version by default. */
  readonly versions?: Readonly<Record<string, readonly string[]>>;
  /** The environment; production by default. */
  readonly environmentId?: string;
  /** The name of the worker, unique in its queue; random by default. */
  readonly workerId?: string;
  /** The build of the worker's code, for example a commit. */
  readonly buildId?: string;
}

/** How a task was completed. */
interface Completion {
  readonly output: unknown;
  /** The length of the output as JSON. */
  readonly outputChars: number;
}

const waitS = 20;
const callGraceMs = 10_000;

/** The most tasks of one call. */
const tasksMax = 100;

/** Creates a worker for the tasks of a workflow queue. */
export function createWorkflowWorker(
  client: { readonly transport: Transport },
  options: WorkflowWorkerOptions,
): Worker {
  const { handlers, concurrency = 10, onError = () => {} } = options;
  return createWorker<LeasedWorkflowTask, Completion>({
    protocol: taskProtocol(client.transport, options),
    async handle(job) {
      const { work: task, controller } = job;
      const report = (progress: unknown) => {
        job.progress = progress;
      };
      const output = await handlers[task.type]!(task.input, { task, signal: controller.signal, report });
      // A value that is no JSON fails its own task, and not the call that reports it.
      return { output, outputChars: JSON.stringify(output)?.length ?? 0 };
    },
    concurrency,
    onError,
  });
}

type TaskReport = Report<LeasedWorkflowTask, Completion>;

function taskProtocol(
  transport: Transport,
  options: WorkflowWorkerOptions,
): WorkProtocol<LeasedWorkflowTask, Completion> {
  const service = createWorkflowTaskService(transport);
  const poll = toPoll(options);

  async function fail(reports: readonly TaskReport[]): Promise<readonly WorkflowTaskResult[]> {
    if (reports.length === 0) return [];
    const failures = reports.map(({ job, failure }) => ({
      ...leaseOf(job.work),
      ...{ code: failure!.code, message: failure!.message, details: failure!.details },
      ...{ retryable: failure!.retryable, retry_after_s: failure!.retryAfterSeconds },
    }));
    return (await service.fail({ failures })).results;
  }

  async function complete(reports: readonly TaskReport[], next?: PollWorkflowTasksRequest, signal?: AbortSignal) {
    const completions = reports.map((report) => ({
      ...leaseOf(report.job.work),
      output: report.failure === undefined ? report.result.output : undefined,
    }));
    return service.complete({ completions, ...(next && { poll: next }) }, { signal });
  }

  return {
    reportsMax: tasksMax,
    reportChars: (report) => (report.failure === undefined ? report.result.outputChars : 0),
    leaseMs: ({ heartbeat_s }) => (heartbeat_s > 0 ? heartbeat_s * 1000 : Number.POSITIVE_INFINITY),
    async lease(count, reports, signal) {
      const { completed, failed } = divide(reports);
      const failures = await fail(failed);
      const slots = Math.min(count, tasksMax);
      if (completed.length > 0) {
        const { results, tasks } = await complete(completed, { ...poll, slots }, signal);
        return { work: tasks, outcomes: toOutcomes(reports, [...results, ...failures]) };
      }
      // Failures are reported already, so a wait does not delay them.
      const { tasks } = await service.poll(
        { ...poll, slots, wait_s: waitS },
        { signal, timeoutMs: waitS * 1000 + callGraceMs },
      );
      return { work: tasks, outcomes: toOutcomes(reports, failures) };
    },
    async report(reports) {
      const { completed, failed } = divide(reports);
      const failures = await fail(failed);
      const results = completed.length === 0 ? [] : (await complete(completed)).results;
      return toOutcomes(reports, [...results, ...failures]);
    },
    async heartbeat(jobs) {
      const states: LeaseState[] = [];
      for (let from = 0; from < jobs.length; from += tasksMax) {
        const batch = jobs.slice(from, from + tasksMax);
        const tasks = batch.map((job) => ({ ...leaseOf(job.work), details: job.progress }));
        const timeoutMs = Math.min(...batch.map(({ work }) => work.heartbeat_s)) * 333;
        const { results } = await service.heartbeat({ tasks }, { idempotencyKey: null, timeoutMs });
        states.push(...results.map(({ status }) => toLeaseState(status)));
      }
      return states;
    },
    async release(tasks) {
      for (let from = 0; from < tasks.length; from += tasksMax) {
        await service.release({ tasks: tasks.slice(from, from + tasksMax).map(leaseOf) });
      }
    },
  };
}

function toPoll(options: WorkflowWorkerOptions): PollWorkflowTasksRequest {
  const { queue, handlers, versions = {}, environmentId, buildId } = options;
  return {
    queue,
    worker_id: options.workerId ?? `worker-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`,
    ...(environmentId !== undefined && { environment_id: environmentId }),
    ...(buildId !== undefined && { build_id: buildId }),
    capabilities: Object.keys(handlers).map((type) => ({ type, versions: versions[type] ?? [] })),
  };
}

function toLeaseState(status: string): LeaseState {
  switch (status) {
    case "ok":
    case "paused":
      return "extended";
    case "cancel":
    case "lost":
      return "lost";
    default:
      return "unknown";
  }
}

function leaseOf({ task_id, token }: LeasedWorkflowTask): { readonly task_id: string; readonly token: string } {
  return { task_id, token };
}

function divide(reports: readonly TaskReport[]) {
  return {
    completed: reports.filter(({ failure }) => failure === undefined),
    failed: reports.filter(({ failure }) => failure !== undefined),
  };
}

/** Finds the outcome of each report among results by task. */
function toOutcomes(reports: readonly TaskReport[], results: readonly WorkflowTaskResult[]): readonly ReportOutcome[] {
  const byTask = new Map(results.map((result) => [result.task_id, result]));
  return reports.map(({ job }) => {
    const result = byTask.get(job.work.task_id);
    return { code: result?.error_code ?? "", message: result?.error_message ?? "" };
  });
}
