import { create, type DescMessage, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import {
  CompleteWorkflowTasksRequestSchema,
  type CompleteWorkflowTasksResponse,
  FailWorkflowTasksRequestSchema,
  type FailWorkflowTasksResponse,
  HeartbeatWorkflowTasksRequestSchema,
  type HeartbeatWorkflowTasksResponse,
  type LeasedWorkflowTask,
  PollWorkflowTasksRequestSchema,
  type PollWorkflowTasksResponse,
  ReleaseWorkflowTasksRequestSchema,
  type ReleaseWorkflowTasksResponse,
} from "../../../../../gen/service/api/workflow_task_pb.ts";
import { afterFile } from "../../../../../test/harness/after-file.ts";
import { announcedChanges } from "../../../../../test/harness/changes.ts";
import { type ContextChoice, contextFor, freshTenant } from "../../../../../test/harness/context.ts";
import type { OwnCommitHandler } from "../../../../chain/call.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { createSignals, type Database } from "../../../../platform/db/index.ts";
import type { KeyedCall } from "../../../../platform/idempotency/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { createMetrics } from "../../../../platform/telemetry/index.ts";
import { createEnvironments } from "../../environments/index.ts";
import { createTasks, type LeasedTask, type RunEngine, type TaskDispatch, type TaskEvent } from "../index.ts";

/** A tenant with two environments. */
export interface TestTenant {
  readonly tenantId: TenantId;
  readonly production: string;
  readonly sandbox: string;
}

/** Creates a tenant with environments. */
export async function newTenant(db: Database): Promise<TestTenant> {
  const tenantId = freshTenant();
  const [production, sandbox] = [ulid(Date.now()), ulid(Date.now())];
  const now = new Date();
  const common = { tenant_id: tenantId, mode: "live", status: "active", created_at: now, updated_at: now };
  await db.sql`
    insert into environments ${db.sql([
      { ...common, id: production, key: "production", name: "Production" },
      { ...common, id: sandbox, key: "sandbox", name: "Sandbox" },
    ])}`;
  return { tenantId, production, sandbox };
}

/** An engine that obeys its contract towards tasks: an event takes effect if the task is leased with its token. */
export function standInEngine(db: Database) {
  const events: TaskEvent[] = [];
  const engine: RunEngine = {
    async apply(tenantId, runId, event) {
      const isOurs = db.sql`
        tenant_id = ${tenantId} and run_id = ${runId} and id = ${event.taskId} and state = 'leased'
          and lease_token = ${event.token}`;
      const changed =
        event.kind === "attempt_succeeded"
          ? await db.sql`delete from workflow_tasks where ${isOurs}`
          : await db.sql`
              update workflow_tasks set state = 'ready', attempt = attempt + 1, lease_token = '', worker_id = '',
                build_id = '', leased_at = null, lease_until = null, attempt_until = null, ready_at = now()
              where ${isOurs}`;
      if (changed.count === 0) return "stale";
      events.push(event);
      return "applied";
    },
  };
  return { engine, events };
}

/** A task to insert. */
export interface TaskChoice {
  readonly environmentId?: string;
  readonly queue?: string;
  readonly type?: string;
  readonly versionRange?: string;
  readonly runId?: string;
  readonly stepKey?: string;
  readonly state?: string;
  readonly attemptMs?: number;
  readonly heartbeatMs?: number;
  readonly readyInMs?: number;
  readonly input?: unknown;
  /** Offers the task to waiting polls, as the engine does. */
  readonly dispatch?: TaskDispatch;
  /** Offers it without its run. */
  readonly hidesRun?: boolean;
}

/** Inserts a ready task like the engine does; returns its id. */
export async function addTask(db: Database, tenant: TestTenant, choice: TaskChoice = {}): Promise<string> {
  const {
    environmentId = tenant.production,
    queue = "q",
    type = "t",
    versionRange = "",
    runId = ulid(Date.now()),
  } = choice;
  const { attemptMs = 60_000, heartbeatMs = 0, stepKey = "step", input = { n: 1 }, dispatch } = choice;
  const { tenantId } = tenant;
  const id = ulid(Date.now());
  const task = { tenantId, environmentId, queue, type, versionRange, attemptMs, heartbeatMs, runId };
  const { runId: _, ...withoutRun } = task;
  const lease = dispatch?.reserve(choice.hidesRun === true ? withoutRun : task, Date.now());
  const row = {
    tenant_id: tenantId,
    id,
    environment_id: environmentId,
    run_id: runId,
    step_key: stepKey,
    queue,
    type,
    version_range: versionRange,
    state: lease === undefined ? (choice.state ?? "ready") : "leased",
    attempt: 1,
    input: db.sql.json(input),
    ready_at: new Date(Date.now() - 1000 + (choice.readyInMs === undefined ? 0 : 1000 + choice.readyInMs)),
    attempt_ms: attemptMs,
    heartbeat_ms: heartbeatMs,
    lease_token: lease?.token ?? "",
    worker_id: lease?.workerId ?? "",
    build_id: lease?.buildId ?? "",
    leased_at: lease === undefined ? null : new Date(),
    lease_until: lease === undefined ? null : new Date(lease.leaseUntilMs),
    attempt_until: lease === undefined ? null : new Date(lease.attemptUntilMs),
    created_at: new Date(),
  };
  await db.sql`insert into workflow_tasks ${db.sql([row])}`;
  if (lease === undefined) dispatch?.wake(tenantId, environmentId, queue);
  else {
    const leased = leasedTask(task, id, lease.token);
    dispatch!.settle([{ token: lease.token, committed: true, task: leased }]);
  }
  return id;
}

/** A leased task for a settlement. */
export function leasedTask(
  task: Pick<LeasedTask, "tenantId" | "environmentId" | "queue" | "type" | "versionRange" | "runId" | "heartbeatMs">,
  id: string,
  token: string,
): LeasedTask {
  const until = new Date(Date.now() + 60_000);
  return {
    ...task,
    id,
    token,
    stepKey: "step",
    attempt: 1,
    input: {},
    details: null,
    leaseUntil: until,
    attemptUntil: until,
  };
}

/** The stored columns of a task that tests look at; undefined if it is gone. */
export function storedTask(db: Database, id: string) {
  return db.sql<
    {
      state: string;
      attempt: number;
      leaseToken: string;
      workerId: string;
      refusedBy: string[];
      details: unknown;
      leaseUntil: Date | null;
      attemptUntil: Date | null;
    }[]
  >`select state, attempt, lease_token, worker_id, refused_by, details, lease_until, attempt_until
    from workflow_tasks where id = ${id}`.first();
}

/** The tasks module of one node, with calls of workers. */
export async function startNode(db: Database, engine: RunEngine = standInEngine(db).engine) {
  const signals = createSignals(db);
  await signals.start();
  const environments = createEnvironments({ cacheLoadDb: db, changes: announcedChanges().changes });
  const parts = { db, signals, log: { warn: () => {} }, metrics: createMetrics(), engine, environments };
  const tasks = createTasks(parts);
  afterFile(async () => {
    tasks.endWaits();
    await tasks.idle();
    await signals.stop();
  });
  const call =
    <I extends DescMessage, O extends Message>(handler: unknown, schema: I) =>
    (choice: ContextChoice, request: MessageInitShape<I>, keyed?: KeyedCall) =>
      (handler as OwnCommitHandler).ownCommit(contextFor(db, choice), create(schema, request), keyed) as Promise<O>;
  const { handlers } = tasks;
  const pollCall = call<typeof PollWorkflowTasksRequestSchema, PollWorkflowTasksResponse>(
    handlers.pollWorkflowTasks,
    PollWorkflowTasksRequestSchema,
  );
  return {
    tasks,
    handlers,
    signals,
    pollCall,
    /** Polls as a worker that can run tasks of type `t`. */
    async poll(
      choice: ContextChoice,
      request: MessageInitShape<typeof PollWorkflowTasksRequestSchema> = {},
    ): Promise<LeasedWorkflowTask[]> {
      return (await pollCall(choice, { ...workerDefaults, ...request })).tasks;
    },
    heartbeat: call<typeof HeartbeatWorkflowTasksRequestSchema, HeartbeatWorkflowTasksResponse>(
      handlers.heartbeatWorkflowTasks,
      HeartbeatWorkflowTasksRequestSchema,
    ),
    complete: call<typeof CompleteWorkflowTasksRequestSchema, CompleteWorkflowTasksResponse>(
      handlers.completeWorkflowTasks,
      CompleteWorkflowTasksRequestSchema,
    ),
    fail: call<typeof FailWorkflowTasksRequestSchema, FailWorkflowTasksResponse>(
      handlers.failWorkflowTasks,
      FailWorkflowTasksRequestSchema,
    ),
    release: call<typeof ReleaseWorkflowTasksRequestSchema, ReleaseWorkflowTasksResponse>(
      handlers.releaseWorkflowTasks,
      ReleaseWorkflowTasksRequestSchema,
    ),
  };
}

/** A poll of a worker that can run tasks of type `t` in the queue `q`. */
export const workerDefaults = {
  queue: "q",
  workerId: "worker-1",
  buildId: "build-1",
  slots: 10,
  capabilities: [{ type: "t" }],
};
