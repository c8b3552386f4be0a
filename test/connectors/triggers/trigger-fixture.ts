import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { CreateConnectionRequestSchema } from "../../../gen/service/api/connection_pb.ts";
import {
  CreateTriggerSubscriptionRequestSchema,
  GetTriggerEventRequestSchema,
  GetTriggerSubscriptionRequestSchema,
  ListTriggerEventsRequestSchema,
  type TriggerEvent,
  type TriggerSubscription,
} from "../../../gen/service/api/trigger_subscription_pb.ts";
import type { Handler } from "../../../src/chain/call.ts";
import type { OperationCaller } from "../../../src/chain/operation-caller.ts";
import {
  insertProduction,
  keyringOf,
  nodesDatabase,
  startNode,
} from "../../../src/modules/connectors/connections/testing/connection-nodes.ts";
import { compileManifest, createGuardedHttp, type Provider } from "../../../src/modules/connectors/manifests/index.ts";
import { createTriggers, type TriggerParts } from "../../../src/modules/connectors/triggers/index.ts";
import { createEvents } from "../../../src/modules/operations/events/index.ts";
import { compileTemplate } from "../../../src/modules/workflows/runs/index.ts";
import type { TenantId } from "../../../src/platform/access/index.ts";
import { createEgress, type Egress } from "../../../src/platform/egress/index.ts";
import { createEventLoopScheduler } from "../../../src/platform/event-loop/index.ts";
import { createLog } from "../../../src/platform/log/log.ts";
import { createMetrics } from "../../../src/platform/telemetry/index.ts";
import { afterFile } from "../../harness/after-file.ts";
import { type ContextChoice, freshTenant, perform } from "../../harness/context.ts";
import { until } from "../../harness/until.ts";

/** What a fixture is created with. */
export interface FixtureOptions {
  readonly providers: readonly Provider[];
  /** Sends the requests of triggers; by default to loopback addresses only. */
  readonly egress?: Egress;
  readonly call?: OperationCaller;
  readonly times?: TriggerParts["times"];
}

/** The public URL of the fixture. */
export const publicUrl = "https://switchyard.example";

/** A node with the trigger module. */
export type FixtureNode = Awaited<ReturnType<Awaited<ReturnType<typeof startTriggerFixture>>["startNode"]>>;

/** Compiles a manifest of a provider on a local server, with API keys and the given triggers. */
export function triggerProvider(port: number, triggers: object): Provider {
  const { provider, violations } = compileManifest({
    ...{
      manifest: 1,
      key: "acme",
      version: "1.0.0",
      name: "Acme",
      category: "generic",
      description: "A test provider.",
    },
    ...{ docs_url: "https://acme.example", hosts: ["127.0.0.1"], base_url: `http://127.0.0.1:${port}` },
    auth: {
      api_key: {
        fields: { token: { title: "Token" } },
        apply: { headers: { authorization: "Bearer {credentials.token}" } },
      },
    },
    actions: {},
    triggers,
  } as never);
  if (provider === undefined) throw new Error(JSON.stringify(violations));
  return provider;
}

/** The trigger module on a database of its own, with one or more nodes. */
export async function startTriggerFixture(options: FixtureOptions) {
  const { providers, times } = options;
  const url = await nodesDatabase();
  const shared = { url, providers };
  const keyring = keyringOf();
  const log = createLog("silent");
  const clockState = { aheadMs: 0 };
  const clock = { now: () => Date.now() + clockState.aheadMs };
  const started: { stop(): Promise<void> }[] = [];
  afterFile(async () => {
    for (const each of started) await each.stop();
  });

  async function startTriggerNode() {
    const node = await startNode({ ...shared, keyring, log });
    const { db, signals, connections } = node;
    const metrics = createMetrics();
    const egress =
      options.egress ??
      createEgress({ mode: "enforce", allowedDomains: [], allowedIpNets: ["127.0.0.0/8"], log, metrics, clock });
    const events = createEvents({
      ...{ db, signals, clock, retentionDays: 30, tenantSettingsEnabled: false },
      platformTenantId: () => "",
    });
    const triggers = createTriggers({
      ...{ db, signals, clock, log, keyring, metrics, connections, compileTemplate },
      events: events.recorder,
      shares: createEventLoopScheduler(),
      catalogue: {
        async trigger(_tenantId, key) {
          const provider = providers.find((each) => key.startsWith(`${each.key}.`));
          const trigger = provider?.triggers.get(key.slice(provider.key.length + 1));
          return provider && trigger && { provider, trigger };
        },
      },
      http: createGuardedHttp(egress),
      environments: {
        require: async ({ tenantId }) => ({ id: await insertProduction(db, tenantId), key: "production" }),
      },
      call: options.call ?? (() => Promise.reject(new Error("No operation is called."))),
      findPoolId: async () => undefined,
      publicUrl: () => publicUrl,
      retentionDays: 30,
      idempotencyMs: 86_400_000,
      platformTenantId: () => "",
      times: { pollMs: 20, ...times },
    });
    let isStarted = false;
    const stop = async () => {
      if (isStarted) await triggers.worker.stop();
      isStarted = false;
      await triggers.idle();
    };
    started.push({ stop });
    return {
      ...{ db, signals, triggers, connections, metrics, events },
      start() {
        isStarted = true;
        triggers.worker.start();
      },
      stop,
    };
  }

  const first = await startTriggerNode();
  const { db } = first;

  /** Performs an operation. */
  const call = <I extends DescMessage, O>(
    handler: unknown,
    schema: I,
    request: MessageInitShape<I>,
    choice: ContextChoice,
  ): Promise<O> =>
    perform(
      db,
      { nowMs: clock.now(), ...choice },
      handler as Handler,
      schema,
      create(schema, request) as never,
    ) as Promise<O>;

  return {
    ...first,
    clock,
    call,
    startNode: startTriggerNode,

    /** Moves the clock of the nodes forward. */
    advance(ms: number): void {
      clockState.aheadMs += ms;
    },

    async tenant(): Promise<TenantId> {
      const tenantId = freshTenant();
      const now = new Date();
      await db.sql`
        insert into tenants (id, name, slug, status, created_at, updated_at)
        values (${tenantId}, 'test', ${tenantId.toLowerCase()}, 'active', ${now}, ${now})`;
      await insertProduction(db, tenantId);
      return tenantId;
    },

    /** Creates a connection; returns its id. */
    async connection(
      tenantId: TenantId,
      providerKey = "acme",
      credentials: object = { token: "token-of-the-account" },
      authMode = "",
    ) {
      const { handlers } = first.connections;
      const { connection } = await call<typeof CreateConnectionRequestSchema, { connection: { id: string } }>(
        handlers.createConnection,
        CreateConnectionRequestSchema,
        { name: "test", providerKey, authMode, credentials: credentials as Record<string, string>, settings: {} },
        { tenantId },
      );
      return connection.id;
    },

    async subscribe(
      tenantId: TenantId,
      request: MessageInitShape<typeof CreateTriggerSubscriptionRequestSchema>,
      choice: ContextChoice = {},
    ): Promise<TriggerSubscription> {
      const response = await call<typeof CreateTriggerSubscriptionRequestSchema, { subscription: TriggerSubscription }>(
        first.triggers.handlers.createTriggerSubscription,
        CreateTriggerSubscriptionRequestSchema,
        { name: "test", ...request } as never,
        { tenantId, ...choice },
      );
      return response.subscription;
    },

    async get(tenantId: TenantId, subscriptionId: string): Promise<TriggerSubscription> {
      const response = await call<typeof GetTriggerSubscriptionRequestSchema, { subscription: TriggerSubscription }>(
        first.triggers.handlers.getTriggerSubscription,
        GetTriggerSubscriptionRequestSchema,
        { subscriptionId },
        { tenantId },
      );
      return response.subscription;
    },

    /** Waits until a subscription has a state; returns it. */
    async waitFor(
      tenantId: TenantId,
      subscriptionId: string,
      isReached: (subscription: TriggerSubscription) => boolean,
    ): Promise<TriggerSubscription> {
      let latest: TriggerSubscription | undefined;
      await until(async () => {
        latest = await this.get(tenantId, subscriptionId);
        return isReached(latest);
      });
      return latest!;
    },

    /** All events of a subscription with their payloads, oldest first. */
    async eventsOf(tenantId: TenantId, subscriptionId: string): Promise<TriggerEvent[]> {
      const { events } = await call<typeof ListTriggerEventsRequestSchema, { events: TriggerEvent[] }>(
        first.triggers.handlers.listTriggerEvents,
        ListTriggerEventsRequestSchema,
        { subscriptionId, pageSize: 1000 },
        { tenantId },
      );
      const full = [];
      for (const { id } of events.reverse()) {
        const { event } = await call<typeof GetTriggerEventRequestSchema, { event: TriggerEvent }>(
          first.triggers.handlers.getTriggerEvent,
          GetTriggerEventRequestSchema,
          { eventId: id },
          { tenantId },
        );
        full.push(event);
      }
      return full;
    },

    /** The types of the events in a tenant's log. */
    async logged(tenantId: TenantId): Promise<string[]> {
      const rows = await db.sql<{ type: string }[]>`select type from events where tenant_id = ${tenantId} order by id`;
      return rows.map(({ type }) => type);
    },
  };
}
