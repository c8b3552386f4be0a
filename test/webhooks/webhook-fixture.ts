import { randomBytes } from "node:crypto";
import { create, type DescMessage, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { PublishEventRequestSchema, type PublishEventResponse } from "../../gen/service/api/event_pb.ts";
import {
  CreateWebhookEndpointRequestSchema,
  type CreateWebhookEndpointResponse,
  GetWebhookDeliveryRequestSchema,
  type WebhookDelivery,
} from "../../gen/service/api/webhook_pb.ts";
import type { Context, OwnCommitHandler, PreparedHandler } from "../../src/chain/call.ts";
import { createEvents } from "../../src/modules/operations/events/index.ts";
import { createWebhooks } from "../../src/modules/operations/webhooks/index.ts";
import type { TenantId } from "../../src/platform/access/index.ts";
import { createKeyring } from "../../src/platform/crypto/index.ts";
import { createSignals, openDatabase } from "../../src/platform/db/index.ts";
import { createEgress } from "../../src/platform/egress/index.ts";
import { createEventLoopScheduler } from "../../src/platform/event-loop/index.ts";
import { createLog } from "../../src/platform/log/log.ts";
import { createMetrics } from "../../src/platform/telemetry/index.ts";
import { afterFile } from "../harness/after-file.ts";
import { contextFor, freshTenant, perform } from "../harness/context.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { until } from "../harness/until.ts";

/** Nodes on one database, with a shared clock that only the test advances. */
export type WebhookFixture = Awaited<ReturnType<typeof startWebhookFixture>>;

/** Master keys of tests; the first one is active. */
export const masterKeys = { k1: randomBytes(32).toString("base64"), k2: randomBytes(32).toString("base64") };
const keyring = createKeyring({ activeKeyId: "k1", keys: { k1: masterKeys.k1 } });

interface Options {
  /** The jitter of delays; the middle by default, so that delays are exact. */
  readonly random?: () => number;
  readonly startedAt?: Date;
}

/** Starts a database with its own clock. */
export async function startWebhookFixture({ random = () => 0.5, startedAt = inAnHour() }: Options = {}) {
  const database = await freshDatabase();
  let nowMs = startedAt.getTime();
  // The unqualified now() of every statement resolves to this function, so the test controls the database's time.
  await database.sql.unsafe(`
    create schema virtual;
    create table virtual.clock as select '${startedAt.toISOString()}'::timestamptz as at;
    create function virtual.now() returns timestamptz stable language sql as 'select at from virtual.clock';
    do $$ begin execute format('alter database %I set search_path = virtual, public, pg_catalog', current_database()); end $$`);
  const db = openDatabase(database.url, { maxConnections: 20 });
  const signals = createSignals(db);
  await signals.start();
  const clock = { now: () => nowMs };
  const events = createEvents({
    db,
    signals,
    clock,
    retentionDays: 30,
    tenantSettingsEnabled: false,
    platformTenantId: () => "",
  });
  const stops: (() => Promise<void>)[] = [];
  afterFile(async () => {
    for (const stop of stops) await stop();
    await signals.stop();
    await db.close();
    await database.drop();
  });

  /** The webhooks of one node; they follow the log and send once started. */
  function node(parts: Partial<Parameters<typeof createWebhooks>[0]> = {}) {
    const metrics = createMetrics();
    const log = createLog("silent");
    const egress = createEgress({
      mode: "enforce",
      allowedDomains: [],
      allowedIpNets: ["127.0.0.0/8"],
      log,
      metrics,
      clock,
    });
    const webhooks = createWebhooks({
      db,
      signals,
      clock,
      log,
      metrics,
      keyring,
      egress,
      shares: createEventLoopScheduler(),
      events,
      random,
      retentionDays: 30,
      platformTenantId: () => "",
      wakeJobs: () => {},
      pollMs: 20,
      ...parts,
    });
    stops.push(async () => {
      await webhooks.stop();
      egress.close();
    });
    return { ...webhooks, metrics };
  }

  const first = node();
  const call = <I extends DescMessage, O>(
    tenantId: TenantId,
    handler: ((context: Context, request: MessageShape<I>) => Promise<O>) | OwnCommitHandler | PreparedHandler,
    schema: I,
    request: MessageInitShape<I>,
  ): Promise<O> => perform(db, { tenantId, nowMs }, handler, schema, request);

  return {
    db,
    signals,
    events,
    clock,
    webhooks: first,
    node,
    call,

    /** Advances the clock of the database and of all nodes. */
    async moveTo(at: Date): Promise<void> {
      nowMs = at.getTime();
      await database.sql`update virtual.clock set at = ${at}`;
    },

    /** Creates an active tenant. */
    async tenant(status = "active"): Promise<TenantId> {
      const id = freshTenant();
      await database.sql`
        insert into tenants (id, name, slug, status, created_at, updated_at)
        values (${id}, 'test', ${id.toLowerCase()}, ${status}, ${new Date()}, ${new Date()})`;
      return id;
    },

    /** Creates an endpoint of a tenant. */
    async endpoint(
      tenantId: TenantId,
      url: string,
      more: MessageInitShape<typeof CreateWebhookEndpointRequestSchema> = {},
    ): Promise<{ id: string; secret: string }> {
      const { createWebhookEndpoint } = first.handlers;
      const request = { url, ...more };
      const created = await call(tenantId, createWebhookEndpoint, CreateWebhookEndpointRequestSchema, request);
      const { endpoint } = created as CreateWebhookEndpointResponse;
      return { id: endpoint!.id, secret: endpoint!.secret! };
    },

    /** Adds an event to a tenant's log; returns its id. */
    async publish(
      tenantId: TenantId,
      request: MessageInitShape<typeof PublishEventRequestSchema> = {},
    ): Promise<string> {
      const { ownCommit } = events.handlers.publishEvent as OwnCommitHandler;
      const message = create(PublishEventRequestSchema, { type: "order.paid", ...request });
      const response = await ownCommit(contextFor(db, { tenantId, nowMs }), message, undefined);
      return (response as PublishEventResponse).event!.id;
    },

    /** A delivery as callers see it. */
    async delivery(tenantId: TenantId, endpointId: string, deliveryId: string): Promise<WebhookDelivery> {
      const request = { endpointId, deliveryId };
      const read = await call(tenantId, first.handlers.getWebhookDelivery, GetWebhookDeliveryRequestSchema, request);
      return (read as { delivery: WebhookDelivery }).delivery;
    },

    /** Waits until a delivery has a number of attempts and is not being sent. */
    async attempted(endpointId: string, eventId: string, count: number): Promise<void> {
      await until(async () => {
        const [row] = await database.sql`
          select from webhook_deliveries where endpoint_id = ${endpointId} and event_id = ${eventId}
            and attempt_count >= ${count} and lease_token is null`;
        return row !== undefined;
      });
    },

    sql: database.sql,
  };
}

/** Ids never go back in time within a process, and some use the wall clock, so the test's current time is later. */
function inAnHour(): Date {
  return new Date((Math.floor(Date.now() / 1000) + 3600) * 1000);
}
