import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import {
  DeleteTriggerSubscriptionRequestSchema,
  ReplayTriggerEventRequestSchema,
  type TriggerEvent,
} from "../../../gen/service/api/trigger_subscription_pb.ts";
import { StartWorkflowRunResponseSchema, WorkflowRunSchema } from "../../../gen/service/api/workflow_run_pb.ts";
import type { CallOrigin, OperationCaller } from "../../../src/chain/operation-caller.ts";
import { fail } from "../../../src/errors/index.ts";
import { maintainTriggersJob } from "../../../src/modules/connectors/triggers/retention-job.ts";
import type { TenantId } from "../../../src/platform/access/index.ts";
import { until } from "../../harness/until.ts";
import { startTriggerFixture, triggerProvider } from "./trigger-fixture.ts";

/** The calls of targets in order, and what the next ones do. */
const calls: { readonly origin: CallOrigin; readonly request: unknown }[] = [];
let answer: (nth: number) => void | Promise<void> = () => {};
const call = (async (_method: unknown, origin: CallOrigin, request: unknown) => {
  const nth = calls.push({ origin, request });
  await answer(nth);
  return create(StartWorkflowRunResponseSchema, {
    run: create(WorkflowRunSchema, { id: `run-${nth}` }),
    started: true,
  });
}) as unknown as OperationCaller;

const secret = "signing-secret";
const acme = triggerProvider(1, {
  "item.changed": {
    ...{ title: "Item changed", description: "An item changed.", kind: "webhook", dedup: "body.id" },
    verify: { kind: "hmac", header: "x-signature", over: "{body}" },
  },
});
const fixture = await startTriggerFixture({ providers: [acme], call });
fixture.start();
const { db, triggers } = fixture;

async function subscription(definition = "d") {
  const tenantId = await fixture.tenant();
  const connectionId = await fixture.connection(tenantId);
  const target = { workflow: { definition } };
  const request = { triggerKey: "acme.item.changed", connectionId, signingSecret: secret, target };
  const { id } = await fixture.subscribe(tenantId, request);
  return { tenantId, id };
}

interface Ref {
  readonly tenantId: TenantId;
  readonly id: string;
}

async function receive({ tenantId, id }: Ref, key: string): Promise<void> {
  const rawBody = Buffer.from(JSON.stringify({ id: key }));
  const headers = { "x-signature": createHmac("sha256", secret).update(rawBody).digest("hex") };
  const delivery = { method: "POST", url: "https://switchyard.example/", rawBody, headers } as const;
  assert.equal(await triggers.receive(tenantId, id, delivery), "taken");
}

/** Waits until the only event of a subscription has a state, with retries at once. */
async function eventIn({ tenantId, id }: Ref, isReached: (event: TriggerEvent) => boolean): Promise<TriggerEvent> {
  let event: TriggerEvent | undefined;
  await until(async () => {
    await db.sql`update connector_trigger_deliveries set due_at = now() where subscription_id = ${id} and claim = ''`;
    fixture.signals.wake("connector.trigger_events");
    [event] = await fixture.eventsOf(tenantId, id);
    return isReached(event!);
  });
  return event!;
}

test("a temporary failure is retried under the same key until it succeeds", async () => {
  calls.length = 0;
  answer = (nth) => {
    if (nth < 3) throw fail("UNAVAILABLE", { public: "Not now." });
    if (nth === 3) throw new Error("something unexpected");
  };
  const ref = await subscription();
  await receive(ref, "e-1");
  const event = await eventIn(ref, ({ status }) => status === "delivered");
  assert.deepEqual([event.attempts, event.lastError, event.result], [4, "", { run_id: "run-4", started: true }]);
  assert.deepEqual(
    calls.map(({ origin }) => [origin.tenantId, origin.idempotencyKey, origin.subject]),
    new Array(4).fill([ref.tenantId, event.id, "service:connector-trigger"]),
  );
});

test("a node that dies before it stores the result causes a second attempt under the same key", async () => {
  calls.length = 0;
  const reached = Promise.withResolvers<void>();
  const continued = Promise.withResolvers<void>();
  answer = async (nth) => {
    if (nth > 1) return;
    reached.resolve();
    await continued.promise;
  };
  const ref = await subscription();
  await receive(ref, "e-1");
  await reached.promise;
  // Its claim expires, and another node takes the delivery over.
  await db.sql`update connector_trigger_deliveries set due_at = now(), claim = '' where subscription_id = ${ref.id}`;
  const event = await eventIn(ref, ({ status }) => status === "delivered");
  continued.resolve();
  await until(async () => /target="workflow",result="delivered"\} [2-9]/.test(await fixture.metrics.render()));
  assert.deepEqual(
    calls.map(({ origin }) => origin.idempotencyKey),
    [event.id, event.id],
  );
  // The late result of the first attempt changes nothing.
  const [after] = await fixture.eventsOf(ref.tenantId, ref.id);
  assert.deepEqual(
    [after!.status, after!.result, after!.attempts],
    ["delivered", { run_id: "run-2", started: true }, 2],
  );
});

test("a permanent failure ends at once, and a replay is a new effect with a key of its own", async () => {
  calls.length = 0;
  answer = () => {
    throw fail("NOT_FOUND", { public: "No such definition." });
  };
  const ref = await subscription();
  await receive(ref, "e-1");
  const dead = await eventIn(ref, ({ status }) => status === "dead");
  assert.deepEqual([dead.attempts, dead.lastError], [1, "No such definition."]);
  const failing = await fixture.waitFor(ref.tenantId, ref.id, ({ status }) => status === "failing");
  assert.match(failing.lastError, /No such definition/);
  answer = () => {};
  const { replayTriggerEvent } = triggers.handlers;
  await fixture.call(replayTriggerEvent, ReplayTriggerEventRequestSchema, { eventId: dead.id }, ref);
  const delivered = await eventIn(ref, ({ status }) => status === "delivered");
  assert.deepEqual([delivered.attempts, delivered.replays], [1, 1]);
  assert.deepEqual(
    calls.map(({ origin }) => origin.idempotencyKey),
    [dead.id, `${dead.id}:1`],
  );
  await fixture.waitFor(ref.tenantId, ref.id, ({ status }) => status === "active");
  const types = (await fixture.logged(ref.tenantId)).filter((type) => type.startsWith("connector.trigger."));
  assert.deepEqual([...types].sort(), [
    "connector.trigger.created",
    "connector.trigger.event_dead",
    "connector.trigger.failing",
    "connector.trigger.recovered",
    "connector.trigger.replayed",
  ]);
});

test("attempts end after 20 failures, and before the result of an earlier one could be forgotten", async () => {
  calls.length = 0;
  answer = () => {
    throw fail("UNAVAILABLE", { public: "Not now." });
  };
  const ref = await subscription();
  await receive(ref, "e-1");
  const exhausted = await eventIn(ref, ({ status }) => status === "dead");
  assert.deepEqual([exhausted.attempts, calls.length], [20, 20]);

  const old = await subscription();
  await receive(old, "e-1");
  await eventIn(old, ({ attempts }) => attempts >= 1);
  await db.sql`
    update connector_trigger_deliveries set first_claimed_at = now() - interval '23.5 hours', attempts = 2
    where subscription_id = ${old.id}`;
  const unknown = await eventIn(old, ({ status }) => status === "dead");
  assert.match(unknown.lastError, /unknown/);
});

test("the events of a deleted subscription are not delivered", async () => {
  calls.length = 0;
  answer = () => {
    throw fail("UNAVAILABLE", { public: "Not now." });
  };
  const ref = await subscription();
  await receive(ref, "e-1");
  await eventIn(ref, ({ attempts }) => attempts >= 1);
  const request = { subscriptionId: ref.id };
  await fixture.call(triggers.handlers.deleteTriggerSubscription, DeleteTriggerSubscriptionRequestSchema, request, ref);
  const dead = await eventIn(ref, ({ status }) => status === "dead");
  assert.equal(dead.lastError, "The subscription was deleted.");
});

test("a tenant with many events does not delay the events of another tenant", async (t) => {
  calls.length = 0;
  const held = Promise.withResolvers<void>();
  t.after(() => held.resolve());
  const busy = await subscription("slow");
  answer = async (nth) => {
    const { definition } = calls[nth - 1]!.request as { definition: string };
    if (definition === "slow") await held.promise;
  };
  for (let nth = 0; nth < 100; nth++) await receive(busy, `e-${nth}`);
  await until(() => calls.length >= 16);
  const quick = await subscription("quick");
  await receive(quick, "e-1");
  const delivered = await eventIn(quick, ({ status }) => status === "delivered");
  assert.equal(delivered.attempts, 1);
  held.resolve();
  await until(
    async () =>
      (await db.sql`select from connector_trigger_deliveries where tenant_id = ${busy.tenantId}`).length === 0,
  );
  assert.equal(new Set(calls.map(({ origin }) => origin.idempotencyKey)).size, 101);
});

test("events are deleted by day after their retention", async () => {
  answer = () => {};
  const ref = await subscription();
  await receive(ref, "e-1");
  await eventIn(ref, ({ status }) => status === "delivered");
  // The job needs locks that background work may hold for too long.
  await fixture.stop();
  const maintain = (aheadDays: number) =>
    maintainTriggersJob({
      ...{ db, retentionDays: 30, platformTenantId: () => "" },
      clock: { now: () => Date.now() + aheadDays * 86_400_000 },
    }).handler({ tenantId: "", id: "", payload: {}, attempt: 1, signal: new AbortController().signal });
  const count = async () =>
    (await db.sql`select from connector_trigger_events where subscription_id = ${ref.id}`).length;
  await maintain(29);
  assert.equal(await count(), 1);
  await maintain(32);
  assert.equal(await count(), 0);
});
