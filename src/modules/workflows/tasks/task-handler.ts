import { create, type Message } from "@bufbuild/protobuf";
import type { Value } from "@bufbuild/protobuf/wkt";
import {
  type CompleteWorkflowTasksRequest,
  CompleteWorkflowTasksResponseSchema,
  type FailWorkflowTasksRequest,
  FailWorkflowTasksResponseSchema,
  type HeartbeatWorkflowTasksRequest,
  HeartbeatWorkflowTasksResponseSchema,
  type PollWorkflowTasksRequest,
  PollWorkflowTasksResponseSchema,
  type ReleaseWorkflowTasksRequest,
  ReleaseWorkflowTasksResponseSchema,
  type WorkflowTaskService as Rpc,
  WorkflowTaskCompletionSchema,
  type WorkflowTaskFailure,
  WorkflowTaskFailureSchema,
  WorkflowTaskHeartbeatSchema,
  WorkflowTaskLeaseSchema,
} from "../../../../gen/service/api/workflow_task_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { Failure, fail, invalid } from "../../../errors/index.ts";
import { environmentIdOf, modeAllows } from "../../../platform/access/index.ts";
import { classifyDatabaseError } from "../../../platform/db/index.ts";
import {
  inProgressFailure,
  type KeyedCall,
  keyName,
  recordResponse,
  unlessRepeated,
} from "../../../platform/idempotency/index.ts";
import type { Log } from "../../../platform/log/log.ts";
import { type Page, pageOf } from "../../../platform/paging/index.ts";
import { valueToJson } from "../../../platform/protojson/index.ts";
import { createMessageChecker } from "../../../platform/validation/index.ts";
import type { PlatformServices } from "../../area.ts";
import { parseToken } from "./domain/lease-token.ts";
import type { Json, LeasedTask, TaskState } from "./domain/task.ts";
import { describeQueues, getTask, listTasks, queueKey, readQueues } from "./overview/task-overview.ts";
import type { LeaseReturn } from "./polling/lease-return.ts";
import type { PollReader } from "./polling/poll-message.ts";
import type { PollService } from "./polling/poll-service.ts";
import type { ReportService } from "./reports/report-service.ts";
import { fromHeartbeat, fromLeasedTask, fromQueue, fromResult, fromTask, type ReportStatus } from "./task-message.ts";

interface Dependencies extends Pick<PlatformServices, "db"> {
  readonly log: Pick<Log, "warn">;
  readonly polls: PollService;
  readonly pollReader: PollReader;
  readonly reports: ReportService;
  readonly leases: Pick<LeaseReturn, "giveBack">;
}

const outputBytesMax = 128 * 1024;
const detailsBytesMax = 16 * 1024;
/** The code with which a worker refuses a task. */
const incompatibleCode = "incompatible";

/** Creates the handlers of WorkflowTaskService. */
export function taskHandlers({ db, log, polls, pollReader, reports, leases }: Dependencies): Handlers<typeof Rpc> {
  const checkHeartbeat = createMessageChecker(WorkflowTaskHeartbeatSchema);
  const checkCompletion = createMessageChecker(WorkflowTaskCompletionSchema);
  const checkFailure = createMessageChecker(WorkflowTaskFailureSchema);
  const checkLease = createMessageChecker(WorkflowTaskLeaseSchema);

  /** The idempotency keys of calls in progress on this node. */
  const inProgress = new Set<string>();

  /**
   * Runs a call once for its idempotency key: a repeat gets the stored response. The effects have commits of their own,
   * before the response is stored. A repeat that comes between them finds its attempts ended.
   */
  async function once<T extends Message>(
    keyed: KeyedCall | undefined,
    run: () => Promise<{ response: T; tasks: readonly LeasedTask[] }>,
  ): Promise<T | "duplicate"> {
    if (keyed === undefined) return (await run()).response;
    const name = keyName(keyed.claim);
    // Of several polls at the same time, one could lease tasks and another one could store its empty response first.
    if (inProgress.has(name)) throw inProgressFailure();
    inProgress.add(name);
    try {
      return await unlessRepeated(db.sql, keyed, async () => {
        const { response, tasks } = await run();
        try {
          await recordResponse(db.sql, keyed, response);
        } catch (error) {
          await leases.giveBack(tasks);
          throw error;
        }
        return response;
      });
    } finally {
      inProgress.delete(name);
    }
  }

  /** Runs one entry of a batch; its error does not affect the others. */
  async function attempt<T>(
    { principal }: Context,
    { token }: { token: string },
    refusal: Failure | undefined,
    run: () => Promise<T>,
  ): Promise<T | Failure> {
    if (refusal !== undefined) return refusal;
    const parsed = parseToken(token);
    if (parsed !== undefined && !modeAllows(principal.environmentMode, parsed.inProduction)) {
      return fail("PERMISSION_DENIED", { public: "The caller has no access to the environment of the task." });
    }
    try {
      return await run();
    } catch (error) {
      if (error instanceof Failure) return error;
      log.warn({ err: error }, "a report of a workflow task failed");
      return classifyDatabaseError(error) ?? fail("INTERNAL", { cause: error });
    }
  }

  async function finish(
    context: Context,
    entry: { taskId: string; token: string },
    refusal: Failure | undefined,
    status: ReportStatus,
    run: () => Promise<boolean>,
  ) {
    const result = await attempt(context, entry, refusal, run);
    return fromResult(entry.taskId, result === true ? status : result === false ? "stale" : result);
  }

  function complete(context: Context, { completions }: CompleteWorkflowTasksRequest) {
    return Promise.all(
      completions.map((entry) => {
        const { taskId, token, output } = entry;
        const json = valueToJson(output);
        const refusal = checkCompletion(entry) ?? checkSize("output", json, outputBytesMax);
        return finish(context, entry, refusal, "completed", async () => {
          const event = { kind: "attempt_succeeded" as const, taskId, token, output: json };
          return (await reports.finish(context.tenantId, event)) === "applied";
        });
      }),
    );
  }

  function failOne(context: Context, entry: WorkflowTaskFailure) {
    const { tenantId } = context;
    const { taskId, token, message, retryable = true, retryAfterS } = entry;
    const code = entry.code === "" ? "task_failed" : entry.code;
    const details = valueToJson(entry.details);
    const refusal = checkFailure(entry) ?? checkSize("details", details, detailsBytesMax);
    if (code === incompatibleCode) {
      return finish(context, entry, refusal, "incompatible", () => reports.refuse({ tenantId, id: taskId, token }));
    }
    return finish(context, entry, refusal, "failed", async () => {
      const retryAfterMs = retryAfterS === undefined ? undefined : Math.ceil(retryAfterS * 1000);
      const event = { kind: "attempt_failed" as const, taskId, token, code, message, details, retryable, retryAfterMs };
      return (await reports.finish(tenantId, event)) === "applied";
    });
  }

  return {
    pollWorkflowTasks: {
      async ownCommit(context: Context, request: PollWorkflowTasksRequest, keyed) {
        const pollRequest = await pollReader.read(context, request);
        return once(keyed, async () => {
          const tasks = await polls.poll(pollRequest);
          return { tasks, response: create(PollWorkflowTasksResponseSchema, { tasks: tasks.map(fromLeasedTask) }) };
        });
      },
    },

    heartbeatWorkflowTasks: {
      async ownCommit(context: Context, request: HeartbeatWorkflowTasksRequest, keyed) {
        const { tenantId } = context;
        return once(keyed, async () => {
          const results = await Promise.all(
            request.tasks.map(async (entry) => {
              const { taskId: id, token } = entry;
              const details = valueToJson(entry.details);
              const refusal = checkHeartbeat(entry) ?? checkSize("details", details, detailsBytesMax);
              const detailsJson = jsonText(entry.details, details);
              const result = await attempt(context, entry, refusal, () =>
                reports.heartbeat({ tenantId, id, token, detailsJson }),
              );
              return fromHeartbeat(id, result);
            }),
          );
          return { tasks: [], response: create(HeartbeatWorkflowTasksResponseSchema, { results }) };
        });
      },
    },

    completeWorkflowTasks: {
      async ownCommit(context: Context, request: CompleteWorkflowTasksRequest, keyed) {
        const pollRequest = request.poll && (await pollReader.read(context, request.poll, "poll."));
        return once(keyed, async () => {
          let results: Awaited<ReturnType<typeof complete>> | undefined;
          const apply = async () => {
            results = await complete(context, request);
          };
          let tasks: readonly LeasedTask[] = [];
          if (pollRequest === undefined) await apply();
          else {
            tasks = await polls.poll(pollRequest, apply).catch((error) => {
              if (results === undefined) throw error;
              // The caller must learn that its completions were applied. Its next poll reports the error.
              log.warn({ err: error }, "a poll after completions failed");
              return [];
            });
          }
          const response = create(CompleteWorkflowTasksResponseSchema, {
            results: results ?? [],
            tasks: tasks.map(fromLeasedTask),
          });
          return { tasks, response };
        });
      },
    },

    failWorkflowTasks: {
      async ownCommit(context: Context, request: FailWorkflowTasksRequest, keyed) {
        return once(keyed, async () => {
          const results = await Promise.all(request.failures.map((entry) => failOne(context, entry)));
          return { tasks: [], response: create(FailWorkflowTasksResponseSchema, { results }) };
        });
      },
    },

    releaseWorkflowTasks: {
      async ownCommit(context: Context, request: ReleaseWorkflowTasksRequest, keyed) {
        const { tenantId } = context;
        return once(keyed, async () => {
          const results = await Promise.all(
            request.tasks.map((entry) => {
              const { taskId: id, token } = entry;
              return finish(context, entry, checkLease(entry), "released", () =>
                reports.release({ tenantId, id, token }),
              );
            }),
          );
          return { tasks: [], response: create(ReleaseWorkflowTasksResponseSchema, { results }) };
        });
      },
    },

    async listWorkflowTasks(context, request) {
      const { queue, runId } = request;
      const environmentId = await environmentIdOf(context, request.environmentId);
      const { environmentMode } = context.principal;
      const filter = { environmentMode, environmentId, queue, runId, state: request.state as TaskState | "" };
      const page = await context.page("tasks", request, Object.values(filter), (wanted) =>
        listTasks(context, filter, wanted),
      );
      return { ...page, tasks: page.tasks.map(fromTask) };
    },

    getWorkflowTask: async (context, { taskId }) => ({ task: fromTask(await getTask(context, taskId)) }),

    async listWorkflowQueues(context, request) {
      const { tenantId, principal, sql } = context;
      const { queue } = request;
      const environmentId = await environmentIdOf(context, request.environmentId);
      const filter = { environmentMode: principal.environmentMode, environmentId, queue };
      const read = async (wanted: Page) => pageOf(await readQueues(sql, tenantId, filter), queueKey, wanted);
      const page = await context.page("queues", request, Object.values(filter), read, queueKey);
      const queues = await describeQueues(sql, tenantId, filter, page.queues);
      return { ...page, queues: queues.map(fromQueue) };
    },
  };
}

function checkSize(field: string, json: Json, bytesMax: number): Failure | undefined {
  if (Buffer.byteLength(JSON.stringify(json)) <= bytesMax) return undefined;
  return invalid(field, "max_bytes", `must have at most ${bytesMax / 1024} KiB as JSON`);
}

function jsonText(value: Value | undefined, json: Json): string | undefined {
  return value === undefined ? undefined : JSON.stringify(json);
}
