import { create, type DescMessage, fromJson, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { PublishEventRequestSchema, type PublishEventResponse } from "../../gen/service/api/event_pb.ts";
import {
  CreateWorkflowDefinitionRequestSchema,
  PublishWorkflowDefinitionRequestSchema,
} from "../../gen/service/api/workflow_definition_pb.ts";
import {
  CreateWorkflowTriggerRequestSchema,
  type CreateWorkflowTriggerResponse,
  GetWorkflowTriggerRequestSchema,
  type GetWorkflowTriggerResponse,
  UpdateWorkflowTriggerRequestSchema,
  type UpdateWorkflowTriggerResponse,
  type WorkflowTrigger,
} from "../../gen/service/api/workflow_trigger_pb.ts";
import type { Context, Handler, OwnCommitHandler } from "../../src/chain/call.ts";
import { createEvents, createLogFollower, type LogConsumer } from "../../src/modules/operations/events/index.ts";
import { createDefinitions } from "../../src/modules/workflows/definitions/index.ts";
import { createEnvironments } from "../../src/modules/workflows/environments/index.ts";
import { createRuns, type TakeQuota } from "../../src/modules/workflows/runs/index.ts";
import { createTasks } from "../../src/modules/workflows/tasks/index.ts";
import { shardCount } from "../../src/modules/workflows/triggers/domain/trigger.ts";
import { createEventWorker } from "../../src/modules/workflows/triggers/event-worker.ts";
import { createFiringStarter } from "../../src/modules/workflows/triggers/firing-starter.ts";
import { createTriggers } from "../../src/modules/workflows/triggers/index.ts";
import { createWorkflowScheduleWorker } from "../../src/modules/workflows/triggers/schedule-worker.ts";
import { createTriggerRecorder } from "../../src/modules/workflows/triggers/trigger-recorder.ts";
import type { TenantId } from "../../src/platform/access/index.ts";
import { createSignals, createTenantChanges, openDatabase } from "../../src/platform/db/index.ts";
import { createEventLoopScheduler } from "../../src/platform/event-loop/index.ts";
import { ulid } from "../../src/platform/ids/ulid.ts";
import { createLog } from "../../src/platform/log/log.ts";
import { createShards } from "../../src/platform/shards/index.ts";
import { createMetrics } from "../../src/platform/telemetry/index.ts";
import { afterFile } from "../harness/after-file.ts";
import { type ContextChoice, contextFor, freshTenant, perform } from "../harness/context.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { until } from "../harness/until.ts";

/** A tenant with two environments. */
export interface StageTenant {
  readonly tenantId: TenantId;
  readonly production: string;
  readonly sandbox: string;
}

/** The definition that most tests start: it waits for an event, and its runs stay in progress until then. */
export const waiting = {
  dsl: "1",
  key: "waiting",
  timeout: "1d",
  steps: [{ id: "wait", wait_event: { event: "go", timeout: "1d" } }],
};

/** A definition whose runs end at once. */
export const instant = { dsl: "1", key: "instant", timeout: "1d", steps: [{ id: "done", transform: { value: 1 } }] };

/** A node that dies after it has started runs, and before it stores that. */
export const dies = () => Promise.reject(new Error("The node died."));

/** A message field with a JSON value. */
export const value = (json: JsonValue) => fromJson(ValueSchema, json);

/** The workflow modules on one database, with a clock that tests can move forward. */
export async function startTriggerFixture(choice: { readonly takeQuota?: TakeQuota } = {}) {
  const { url } = await freshDatabase();
  const db = openDatabase(url, { maxConnections: 20 });
  const signals = createSignals(db);
  await signals.start();
  const changes = createTenantChanges(db, signals);
  await changes.start();
  let aheadMs = 0;
  const clock = { now: () => Date.now() + aheadMs };
  const log = createLog("silent");
  const shares = createEventLoopScheduler();
  const eventsModule = createEvents({
    ...{ db, signals, clock, retentionDays: 30, tenantSettingsEnabled: false },
    platformTenantId: () => "",
  });
  const { recorder: events, reader } = eventsModule;
  const eventLogs = {
    reader,
    follow: (consumer: LogConsumer) => createLogFollower({ db, signals, reader, log }, { ...consumer, pollMs: 100 }),
  };
  const environments = createEnvironments({ cacheLoadDb: db, changes });
  const common = { db, cacheLoadDb: db, signals, changes, clock, log, shares, events, environments };
  const definitions = createDefinitions({
    ...common,
    findPools: async () => new Set<string>(),
    findNotificationWorkflows: async () => new Set<string>(),
    findExperiments: async () => new Set<string>(),
    checkActionUse: async () => "absent",
  });
  const tasks = createTasks({
    ...common,
    metrics: createMetrics(),
    engine: { apply: (tenantId, runId, event) => runs.apply(tenantId, runId, event) },
  });
  const runs = createRuns({
    ...common,
    definitions,
    history: { count() {} },
    dispatch: tasks.dispatch,
    tasksOfRun: tasks.tasksOfRun,
    metrics: createMetrics(),
    call: () => Promise.reject(new Error("No operation is called.")),
    jobs: { wake: () => {} },
    region: "local",
    findPoolId: async () => undefined,
    findExperimentId: async () => undefined,
    retentionDays: 30,
    platformTenantId: () => "",
    takeQuota: choice.takeQuota ?? (async () => undefined),
  });
  const triggerParts = { ...common, definitions, eventLogs, runs };
  const { handlers } = createTriggers(triggerParts);
  const stops: (() => Promise<void>)[] = [];
  afterFile(async () => {
    for (const stop of stops) await stop();
    tasks.endWaits();
    await tasks.idle();
    await runs.idle();
    changes.stop();
    await signals.stop();
    await db.close();
  });

  /** Performs an operation of triggers. */
  const call = <I extends DescMessage, O>(
    tenant: ContextChoice,
    handler: Handler | OwnCommitHandler,
    schema: I,
    request: MessageInitShape<I>,
  ): Promise<O> => {
    const context = { ...tenant, nowMs: clock.now() };
    if (typeof handler !== "function" && "ownCommit" in handler) {
      return handler.ownCommit(contextFor(db, context), create(schema, request), undefined) as Promise<O>;
    }
    return perform(db, context, handler as (context: Context, request: unknown) => Promise<O>, schema, request);
  };

  async function get(tenantId: TenantId, triggerId: string): Promise<WorkflowTrigger> {
    const request = { triggerId };
    return (
      await call<typeof GetWorkflowTriggerRequestSchema, GetWorkflowTriggerResponse>(
        { tenantId },
        handlers.getWorkflowTrigger as Handler,
        GetWorkflowTriggerRequestSchema,
        request,
      )
    ).trigger!;
  }

  return {
    ...{ db, clock, handlers, runs, call, get, reader, events },

    /** Moves the clock of the nodes forward. */
    advance(ms: number): void {
      aheadMs += ms;
    },

    async tenant(): Promise<StageTenant> {
      const tenantId = freshTenant();
      const [production, sandbox] = [ulid(Date.now()), ulid(Date.now())];
      const now = new Date();
      await db.sql`
        insert into tenants (id, name, slug, status, created_at, updated_at)
        values (${tenantId}, 'test', ${tenantId.toLowerCase()}, 'active', ${now}, ${now})`;
      const row = { tenant_id: tenantId, mode: "live", status: "active", created_at: now, updated_at: now };
      await db.sql`
        insert into environments ${db.sql([
          { ...row, id: production, key: "production", name: "Production" },
          { ...row, id: sandbox, key: "sandbox", name: "Sandbox" },
        ])}`;
      return { tenantId, production, sandbox };
    },

    /** Creates and publishes a definition. */
    async publish(tenantId: TenantId, document: { readonly key: string }): Promise<void> {
      const create = definitions.handlers.createWorkflowDefinition as Handler;
      await call({ tenantId }, create, CreateWorkflowDefinitionRequestSchema, { document: document as never });
      const publish = definitions.handlers.publishWorkflowDefinition as Handler;
      await call({ tenantId }, publish, PublishWorkflowDefinitionRequestSchema, { id: document.key });
    },

    async create(
      tenantId: TenantId,
      request: MessageInitShape<typeof CreateWorkflowTriggerRequestSchema>,
      choice: ContextChoice = {},
    ): Promise<WorkflowTrigger> {
      const full = { name: ulid(Date.now()), definition: "instant", ...request };
      return (
        await call<typeof CreateWorkflowTriggerRequestSchema, CreateWorkflowTriggerResponse>(
          { tenantId, ...choice },
          handlers.createWorkflowTrigger as Handler,
          CreateWorkflowTriggerRequestSchema,
          full as MessageInitShape<typeof CreateWorkflowTriggerRequestSchema>,
        )
      ).trigger!;
    },

    async update(
      tenantId: TenantId,
      request: MessageInitShape<typeof UpdateWorkflowTriggerRequestSchema>,
    ): Promise<WorkflowTrigger> {
      return (
        await call<typeof UpdateWorkflowTriggerRequestSchema, UpdateWorkflowTriggerResponse>(
          { tenantId },
          handlers.updateWorkflowTrigger as Handler,
          UpdateWorkflowTriggerRequestSchema,
          request,
        )
      ).trigger!;
    },

    /** Adds an event to a tenant's log; returns its id. */
    async emit(tenantId: TenantId, type: string, data: Record<string, JsonValue> = {}, subject = ""): Promise<string> {
      const { ownCommit } = eventsModule.handlers.publishEvent as OwnCommitHandler;
      const message = create(PublishEventRequestSchema, { type, subject, data });
      const response = await ownCommit(contextFor(db, { tenantId, nowMs: clock.now() }), message, undefined);
      return (response as PublishEventResponse).event!.id;
    },

    /** The runs of a tenant, oldest first. */
    async runsOf(tenantId: TenantId) {
      return db.sql<
        { id: string; status: string; runKey: string; state: { input: JsonValue }; origin: Record<string, unknown> }[]
      >`select id, status, run_key, state, origin from all_workflow_runs where tenant_id = ${tenantId} order by created_at, id`;
    },

    /** The events about triggers in a tenant's log. */
    async eventsOf(tenantId: TenantId, type: string) {
      return db.sql<{ subject: string; data: Record<string, JsonValue>; environmentId: string | null }[]>`
        select subject, data, environment_id from events where tenant_id = ${tenantId} and type = ${type} order by id`;
    },

    /** A node that starts runs by itself. */
    async startWorker() {
      const { worker } = createTriggers(triggerParts);
      await worker.start();
      stops.push(worker.stop);
      return worker;
    },

    /** The workers of a node that works only when a test tells it to. */
    async manualNode({ beforeWrite }: { readonly beforeWrite?: () => Promise<unknown> } = {}) {
      // Longer than all tests, which move the clock.
      const leaseMs = 60 * 86_400_000;
      const shards = createShards({ db, clock, log, signals, kind: "workflow.triggers", count: shardCount, leaseMs });
      shards.start();
      stops.push(shards.stop);
      await until(() => shards.owned().size > 0);
      const record = createTriggerRecorder(common);
      const parts = {
        ...{ ...triggerParts, shards, topic: "workflow.triggers" },
        startFiring: createFiringStarter({ runs, clock }),
        recordResults: (async (changed, store, statements) => {
          await beforeWrite?.();
          return record(changed, store, statements);
        }) satisfies typeof record,
      };
      return { shards, schedules: createWorkflowScheduleWorker(parts), eventWorker: createEventWorker(parts) };
    },

    /** Follows a log to its end. Transactions of other tests on the same server can delay it. */
    async followToEnd(tenantId: TenantId, node: { readonly eventWorker: { follow(id: TenantId): Promise<void> } }) {
      await until(async () => {
        await node.eventWorker.follow(tenantId);
        const rows = await db.sql`
          select from workflow_trigger_cursors c where tenant_id = ${tenantId} and not exists (
            select from events e where e.tenant_id = c.tenant_id and (e.stamp, e.id) > (c.stamp, c.id))`;
        return rows.length > 0;
      });
    },
  };
}
