import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  DeleteWebhookEndpointRequestSchema,
  WebhookEndpoint_Status as EndpointStatus,
  GetWebhookReplayRequestSchema,
  ListWebhookDeliveriesRequestSchema,
  WebhookReplay_Status as ReplayStatus,
  ReplayWebhookDeliveryRequestSchema,
  ReplayWebhookEndpointRequestSchema,
  WebhookReplay_Selection as Selection,
  WebhookDelivery_Status as Status,
  TestWebhookEndpointRequestSchema,
  UpdateWebhookEndpointRequestSchema,
  type WebhookDelivery,
  type WebhookReplay,
} from "../../../../../gen/service/api/webhook_pb.ts";
import { failsWith } from "../../../../../test/harness/context.ts";
import { until } from "../../../../../test/harness/until.ts";
import { startReceiver } from "../../../../../test/webhooks/receiver.ts";
import { startWebhookFixture } from "../../../../../test/webhooks/webhook-fixture.ts";
import type { TenantId } from "../../../../platform/access/index.ts";

const fixture = await startWebhookFixture();
const receiver = await startReceiver();
await fixture.webhooks.start();
const { handlers, jobs } = fixture.webhooks;
const hourMs = 3_600_000;
const orders = { eventTypes: ["order.*"] };

/** Runs the pending jobs of a kind, as the runner does. */
async function runJobs(kind: string, signal = new AbortController().signal): Promise<void> {
  const waiting = await fixture.sql`select tenant_id, id, payload from jobs where kind = ${kind}`;
  const job = jobs.find((each) => each.kind === kind)!;
  for (const { tenant_id: tenantId, id, payload } of waiting) {
    await job.handler({ tenantId, id, payload, attempt: 1, signal });
    await fixture.sql`delete from jobs where id = ${id}`;
  }
}

async function startReplay(
  tenantId: TenantId,
  endpointId: string,
  selection: Selection,
  since = 0,
): Promise<WebhookReplay> {
  const request = {
    endpointId,
    selection,
    since: timestampFromDate(new Date(since || fixture.clock.now() - hourMs)),
    until: timestampFromDate(new Date(fixture.clock.now() + 1)),
  };
  const answer = await fixture.call(
    tenantId,
    handlers.replayWebhookEndpoint,
    ReplayWebhookEndpointRequestSchema,
    request,
  );
  return (answer as { replay: WebhookReplay }).replay;
}

async function readReplay(tenantId: TenantId, endpointId: string, replayId: string): Promise<WebhookReplay> {
  const request = { endpointId, replayId };
  const answer = await fixture.call(tenantId, handlers.getWebhookReplay, GetWebhookReplayRequestSchema, request);
  return (answer as { replay: WebhookReplay }).replay;
}

const replayOne = (tenantId: TenantId, endpointId: string, deliveryId: string) =>
  fixture.call(tenantId, handlers.replayWebhookDelivery, ReplayWebhookDeliveryRequestSchema, {
    endpointId,
    deliveryId,
  });

const setStatus = (tenantId: TenantId, endpointId: string, status: EndpointStatus) =>
  fixture.call(tenantId, handlers.updateWebhookEndpoint, UpdateWebhookEndpointRequestSchema, { endpointId, status });

const idsAt = (path: string) => receiver.received(path).map(({ body }) => JSON.parse(body).id as string);

test("a test event reaches only its endpoint, regardless of the endpoint's types, and has a delivery", async () => {
  const tenantId = await fixture.tenant();
  const { id } = await fixture.endpoint(tenantId, receiver.url("/tested"), orders);
  await fixture.endpoint(tenantId, receiver.url("/bystander"));
  const request = { endpointId: id };
  const answer = await fixture.call(tenantId, handlers.testWebhookEndpoint, TestWebhookEndpointRequestSchema, request);
  const { delivery } = answer as { delivery: WebhookDelivery };
  assert.deepEqual([delivery.status, delivery.eventType], [Status.PENDING, "webhook.endpoint.test"]);
  await fixture.attempted(id, delivery.id, 1);
  assert.equal((await fixture.delivery(tenantId, id, delivery.id)).status, Status.SUCCEEDED);
  assert.deepEqual(idsAt("/tested"), [delivery.id]);
  // When a later event has arrived, the log has been followed past the test event.
  const later = await fixture.publish(tenantId);
  await until(() => idsAt("/bystander").includes(later) && idsAt("/tested").includes(later));
  assert.ok(!idsAt("/bystander").includes(delivery.id));
  assert.equal(idsAt("/tested").length, 2, "followed as well, and not sent twice");

  await setStatus(tenantId, id, EndpointStatus.DISABLED);
  const again = fixture.call(tenantId, handlers.testWebhookEndpoint, TestWebhookEndpointRequestSchema, request);
  await assert.rejects(again, failsWith("FAILED_PRECONDITION", /disabled/));
});

test("a replayed delivery is sent with the same id and a full set of attempts", async () => {
  const tenantId = await fixture.tenant();
  const { id } = await fixture.endpoint(tenantId, receiver.url("/again"), orders);
  const eventId = await fixture.publish(tenantId);
  await fixture.attempted(id, eventId, 1);
  receiver.answer("/again", 500);
  await replayOne(tenantId, id, eventId);
  await fixture.attempted(id, eventId, 2);
  const delivery = await fixture.delivery(tenantId, id, eventId);
  assert.equal(delivery.status, Status.PENDING);
  assert.equal(delivery.nextAttemptAt!.seconds, BigInt(fixture.clock.now() / 1000 + 5), "the first of the waits");
  assert.deepEqual(
    delivery.attempts.map(({ responseStatus }) => responseStatus),
    [200, 500],
  );
  assert.equal(new Set(receiver.received("/again").map(({ headers }) => headers["webhook-id"])).size, 1);

  receiver.answer("/again", 200);
  await replayOne(tenantId, id, eventId);
  await fixture.attempted(id, eventId, 3);
  assert.equal((await fixture.delivery(tenantId, id, eventId)).status, Status.SUCCEEDED);

  const other = await fixture.tenant();
  await assert.rejects(replayOne(other, id, eventId), failsWith("NOT_FOUND"));
  await fixture.sql`delete from events where id = ${eventId}`;
  await assert.rejects(replayOne(tenantId, id, eventId), failsWith("FAILED_PRECONDITION", /no longer in the log/));
});

test("a delivery that is being sent cannot be replayed concurrently", async () => {
  const tenantId = await fixture.tenant();
  const open: ServerResponse[] = [];
  receiver.answer("/busy", (response) => open.push(response));
  const { id } = await fixture.endpoint(tenantId, receiver.url("/busy"), orders);
  const eventId = await fixture.publish(tenantId);
  await until(() => open.length === 1);
  await assert.rejects(replayOne(tenantId, id, eventId), failsWith("CONFLICT"));
  open[0]!.end();
  await fixture.attempted(id, eventId, 1);
});

test("a replay sends the failed, the missing or all events of a time range", async () => {
  const tenantId = await fixture.tenant();
  const early = await fixture.publish(tenantId);
  const { id } = await fixture.endpoint(tenantId, receiver.url("/range"), orders);
  receiver.answer("/range", 410);
  const failed = await fixture.publish(tenantId);
  await fixture.attempted(id, failed, 1);
  await until(
    async () =>
      (await fixture.sql`select from webhook_endpoints where id = ${id} and status = 'disabled'`).length === 1,
  );
  const whileDisabled = await fixture.publish(tenantId);
  await fixture.publish(tenantId, { type: "user.added" });
  receiver.answer("/range", 200);
  await assert.rejects(startReplay(tenantId, id, Selection.ALL), failsWith("FAILED_PRECONDITION", /disabled/));
  await setStatus(tenantId, id, EndpointStatus.ACTIVE);
  const fine = await fixture.publish(tenantId);
  await fixture.attempted(id, fine, 1);
  const arrived = (ids: string[]) => until(() => ids.every((each) => idsAt("/range").slice(1).includes(each)));

  const first = await startReplay(tenantId, id, Selection.UNSPECIFIED);
  assert.deepEqual([first.status, first.selection], [ReplayStatus.RUNNING, Selection.FAILED]);
  await assert.rejects(startReplay(tenantId, id, Selection.ALL), failsWith("FAILED_PRECONDITION", /still running/));
  await runJobs("webhooks.replay");
  await arrived([failed]);
  const done = await readReplay(tenantId, id, first.id);
  assert.deepEqual([done.status, done.replayed], [ReplayStatus.COMPLETED, 1n]);

  const second = await startReplay(tenantId, id, Selection.MISSING);
  await runJobs("webhooks.replay");
  await arrived([early, whileDisabled]);
  assert.equal((await readReplay(tenantId, id, second.id)).replayed, 2n);
  for (const eventId of [early, whileDisabled]) await fixture.attempted(id, eventId, 1);

  const sent = idsAt("/range").length;
  const third = await startReplay(tenantId, id, Selection.ALL);
  await runJobs("webhooks.replay");
  await until(() => idsAt("/range").length === sent + 4);
  assert.equal((await readReplay(tenantId, id, third.id)).replayed, 4n);
  assert.deepEqual(new Set(idsAt("/range").slice(sent)), new Set([early, failed, whileDisabled, fine]));
});

test("a replay covers exactly its time range, and an invalid range is rejected", async () => {
  const tenantId = await fixture.tenant();
  const { id } = await fixture.endpoint(tenantId, receiver.url("/bounded"), orders);
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) {
    await fixture.moveTo(new Date(fixture.clock.now() + 1000));
    ids.push(await fixture.publish(tenantId));
    await fixture.attempted(id, ids[i]!, 1);
  }
  const ask = (sinceMs: number, untilMs: number) =>
    fixture.call(tenantId, handlers.replayWebhookEndpoint, ReplayWebhookEndpointRequestSchema, {
      endpointId: id,
      selection: Selection.ALL,
      since: timestampFromDate(new Date(sinceMs)),
      until: timestampFromDate(new Date(untilMs)),
    });
  const nowMs = fixture.clock.now();
  await ask(nowMs - 1000, nowMs);
  await runJobs("webhooks.replay");
  await fixture.attempted(id, ids[1]!, 2);
  assert.deepEqual(idsAt("/bounded").slice(3), [ids[1]]);
  await assert.rejects(ask(nowMs, nowMs), failsWith("INVALID_ARGUMENT", /since/));
  await assert.rejects(ask(nowMs - 32 * 24 * hourMs, nowMs), failsWith("INVALID_ARGUMENT", /31 days/));
});

test("an interrupted replay continues where it stopped, on any node", async () => {
  const tenantId = await fixture.tenant();
  const { id } = await fixture.endpoint(tenantId, receiver.url("/long"), { eventTypes: ["none.at_all"] });
  await Promise.all(Array.from({ length: 1200 }, () => fixture.publish(tenantId)));
  await until(async () => {
    const [row] = await fixture.sql`
      select from webhook_cursors c where tenant_id = ${tenantId} and not exists (
        select from events e where e.tenant_id = c.tenant_id and (e.stamp, e.id) > (c.stamp, c.id))`;
    return row !== undefined;
  });
  await fixture.sql`update webhook_endpoints set event_types = '{order.*}' where id = ${id}`;
  const replay = await startReplay(tenantId, id, Selection.MISSING);
  const interrupted = new AbortController();
  const job = jobs.find((each) => each.kind === "webhooks.replay")!;
  const run = job.handler({
    tenantId,
    id: "job",
    payload: { replayId: replay.id },
    attempt: 1,
    signal: interrupted.signal,
  });
  await until(async () => (await readReplay(tenantId, id, replay.id)).replayed > 0n);
  interrupted.abort(new Error("the node stops"));
  await run.catch(() => {});
  await runJobs("webhooks.replay");
  const done = await readReplay(tenantId, id, replay.id);
  assert.deepEqual([done.status, done.replayed], [ReplayStatus.COMPLETED, 1200n]);
  await until(() => idsAt("/long").length >= 1200);
  assert.equal(new Set(idsAt("/long")).size, 1200);
});

test("deliveries are listed newest first, by status, and only for their tenant", async () => {
  const tenantId = await fixture.tenant();
  const { id } = await fixture.endpoint(tenantId, receiver.url("/listed"), orders);
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    ids.push(await fixture.publish(tenantId));
    await fixture.attempted(id, ids[i]!, 1);
  }
  receiver.answer("/listed", 410);
  const refused = await fixture.publish(tenantId);
  await fixture.attempted(id, refused, 1);
  const list = async (tenant: TenantId, more: object) =>
    (await fixture.call(tenant, handlers.listWebhookDeliveries, ListWebhookDeliveriesRequestSchema, {
      endpointId: id,
      ...more,
    })) as { deliveries: WebhookDelivery[]; nextPageToken: string; totalSize: number };
  const idsOf = ({ deliveries }: { deliveries: WebhookDelivery[] }) => deliveries.map((each) => each.id);
  assert.deepEqual(idsOf(await list(tenantId, {})), [refused, ...ids.toReversed()]);
  assert.deepEqual(idsOf(await list(tenantId, { status: Status.FAILED })), [refused]);
  const first = await list(tenantId, { status: Status.SUCCEEDED, pageSize: 3 });
  assert.equal(first.totalSize, 5);
  const rest = await list(tenantId, { status: Status.SUCCEEDED, pageSize: 3, pageToken: first.nextPageToken });
  assert.deepEqual([...idsOf(first), ...idsOf(rest)], ids.toReversed());
  await assert.rejects(list(tenantId, { pageToken: first.nextPageToken }), failsWith("INVALID_ARGUMENT"));
  await assert.rejects(list(await fixture.tenant(), {}), failsWith("NOT_FOUND"));
});

test("expired deliveries are deleted, pending ones are not, and a deleted endpoint leaves no rows", async () => {
  const tenantId = await fixture.tenant();
  const { id } = await fixture.endpoint(tenantId, receiver.url("/kept"), orders);
  const old = await fixture.publish(tenantId);
  await fixture.attempted(id, old, 1);
  receiver.answer("/kept", 500);
  const waiting = await fixture.publish(tenantId);
  await fixture.attempted(id, waiting, 1);
  await fixture.sql`update webhook_deliveries set next_attempt_at = next_attempt_at + interval '90 days' where event_id = ${waiting}`;
  const forget = jobs.find((each) => each.kind === "webhooks.delete_expired_deliveries")!;
  const run = () =>
    forget.handler({ tenantId: "", id: "", payload: {}, attempt: 1, signal: new AbortController().signal });
  const left = async () =>
    (await fixture.sql`select event_id from webhook_deliveries where endpoint_id = ${id} order by event_id`).map(
      (row) => row.event_id,
    );
  await fixture.moveTo(new Date(fixture.clock.now() + 30 * 24 * hourMs));
  await run();
  assert.deepEqual(await left(), [old, waiting]);
  await fixture.moveTo(new Date(fixture.clock.now() + 1000));
  await run();
  assert.deepEqual(await left(), [waiting]);

  // A replay whose job was lost does not block new replays forever.
  const stale = await startReplay(tenantId, id, Selection.ALL);
  await run();
  assert.equal((await readReplay(tenantId, id, stale.id)).status, ReplayStatus.RUNNING);
  await fixture.moveTo(new Date(fixture.clock.now() + 24 * hourMs + 1));
  await run();
  assert.equal((await readReplay(tenantId, id, stale.id)).status, ReplayStatus.CANCELLED);
  await startReplay(tenantId, id, Selection.ALL);

  const deleting = { endpointId: id };
  await fixture.call(tenantId, handlers.deleteWebhookEndpoint, DeleteWebhookEndpointRequestSchema, deleting);
  await runJobs("webhooks.delete_endpoint");
  assert.deepEqual(await left(), []);
});
