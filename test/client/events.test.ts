import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { before, describe, test } from "node:test";
import { Webhook } from "standardwebhooks";
import {
  type Client,
  createClient,
  defineWorkflow,
  isApiError,
  type RawBody,
  verifyWebhook,
  WebhookVerificationError,
} from "../../clients/typescript/src/index.ts";
import { createSseParser } from "../../clients/typescript/src/streams/sse-parser.ts";
import { freshWord } from "../harness/operations.ts";
import { startService, type TestService } from "../harness/service.ts";

describe("event streams of the client", () => {
  let service: TestService;

  before(async () => {
    service = await startService();
  });

  test("a stream continues after a lost connection, without a gap or a repetition", async () => {
    const resumedFrom: (string | null)[] = [];
    let cut = () => {};
    const client = createClient({
      ...{ baseUrl: service.baseUrl, apiKey: service.adminKey, backoff: { initialMs: 1, maxMs: 5 } },
      async fetch(url, init) {
        const headers = new Headers(init?.headers);
        if (headers.get("accept") !== "text/event-stream") return fetch(url, init);
        resumedFrom.push(headers.get("last-event-id"));
        const response = await fetch(url, init);
        const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>>();
        const lost = new AbortController();
        cut = () => lost.abort(new TypeError("terminated"));
        response.body!.pipeTo(writable, { signal: lost.signal }).catch(() => {});
        return new Response(readable, response);
      },
    });
    const publish = (subject: string) => client.events.publish({ type: "order.paid", subject });
    const stop = new AbortController();
    const first = await publish("0");
    const stream = client.events.subscribe({ types: ["order.*"], cursor: first.id }, { signal: stop.signal });
    await publish("1");
    const subjects: string[] = [];
    const ids: string[] = [];
    await assert.rejects(async () => {
      for await (const { subject, id } of stream) {
        assert.ok(!ids.includes(id), "an event is repeated");
        subjects.push(subject);
        ids.push(id);
        const next = Number(subject) + 1;
        if (next === 7) stop.abort(new Error("enough"));
        // The connection is lost while the next event is published.
        cut();
        await publish(String(next));
      }
    }, /enough/);
    assert.deepEqual(subjects, ["1", "2", "3", "4", "5", "6"]);
    assert.deepEqual(resumedFrom, [null, ...ids.slice(0, -1)]);
    assert.equal(stream.lastEventId, ids.at(-1));
  });

  test("a stream that the service refuses ends with the error, and a loop that ends closes the connection", async () => {
    const refused = createClient({ baseUrl: service.baseUrl, apiKey: "sk_test_nobody_00" });
    await assert.rejects(
      async () => {
        for await (const _ of refused.events.subscribe()) assert.fail("nobody may read");
      },
      { code: "UNAUTHENTICATED" },
    );
    let signal: AbortSignal | null | undefined;
    const client = createClient({
      ...{ baseUrl: service.baseUrl, apiKey: service.adminKey },
      fetch: (url, init) => {
        signal = init?.signal;
        return fetch(url, init);
      },
    });
    const { id } = await client.events.publish({ type: "order.seen" });
    await client.events.publish({ type: "order.seen" });
    for await (const _ of client.events.subscribe({ types: ["order.seen"], cursor: id })) break;
    assert.equal(signal?.aborted, true);
  });

  test("a stream that is complete ends, and its end is no record", async () => {
    const client = createClient({ baseUrl: service.baseUrl, apiKey: service.adminKey });
    const run_id = await startWaitingRun(client);
    const { id: stream_id } = await client.workflowStreams.create({ run_id, name: "out" });
    for (const value of [1, 2]) await client.workflowStreams.appendRecord({ run_id, stream_id, payload: value });
    await client.workflowStreams.close({ run_id, stream_id });
    const records = [];
    const stream = client.workflowStreams.subscribe({ run_id, stream_id });
    for await (const record of stream) records.push([record.sequence, record.payload]);
    assert.deepEqual(records, [
      [1, 1],
      [2, 2],
    ]);
    assert.equal(stream.lastEventId, "2");
  });

  test("a stream goes on after a node has closed the connection without its end", async () => {
    let connections = 0;
    const client = createClient({
      ...{ baseUrl: service.baseUrl, apiKey: service.adminKey, backoff: { initialMs: 1, maxMs: 5 } },
      async fetch(url, init) {
        const response = await fetch(url, init);
        if (new Headers(init?.headers).get("accept") !== "text/event-stream" || ++connections > 1) return response;
        const text = `id: ${first.id}\ndata: ${JSON.stringify(first)}\n\n`;
        await response.body!.cancel();
        return new Response(text, response);
      },
    });
    const first = await client.events.publish({ type: "closed.first" });
    await client.events.publish({ type: "closed.second" });
    const types = [];
    for await (const { type } of client.events.subscribe({ types: ["closed.*"] })) {
      if (types.push(type) === 2) break;
    }
    assert.deepEqual([types, connections], [["closed.first", "closed.second"], 2]);
  });

  test("an object of a stream is uploaded as bytes, text or a blob, and downloaded as it was", async () => {
    const client = createClient({ baseUrl: service.baseUrl, apiKey: service.adminKey });
    const run_id = await startWaitingRun(client);
    const { id: stream_id } = await client.workflowStreams.create({ run_id, name: "files" });
    const bytes = Uint8Array.from({ length: 100_000 }, (_, at) => (at * at) % 251);
    const bodies: [RawBody, Uint8Array][] = [
      [bytes, bytes],
      [bytes.buffer, bytes],
      [new Blob([bytes], { type: "image/png" }), bytes],
      ["für dich", new TextEncoder().encode("für dich")],
    ];
    for (const [sequence, [body, expected]] of bodies.entries()) {
      const sha256 = createHash("sha256").update(expected).digest("hex");
      const announced = { run_id, stream_id, sha256, size_bytes: expected.length };
      const { id: intent_id } = await client.workflowObjects.prepare(announced);
      const named = { run_id, stream_id, intent_id };
      const wrong = client.workflowObjects.upload({ ...named, body: "other bytes" });
      await assert.rejects(wrong, (error) => isApiError(error) && !error.retryable);
      assert.equal((await client.workflowObjects.upload({ ...named, body })).status, "uploaded");
      assert.equal((await client.workflowObjects.commit(named)).sequence, sequence + 1);
      const downloaded = await client.workflowObjects.download(named);
      assert.deepEqual(new Uint8Array(await downloaded.arrayBuffer()), expected);
    }
  });

  test("events are parsed wherever their text is divided", () => {
    const text = ": hello\r\nid: 1\r\ndata: a\r\ndata: b\r\n\r\nevent: error\ndata:c\n\nid: 2\rdata\r\r";
    const expected = [
      { id: "1", type: "message", data: "a\nb" },
      { id: "1", type: "error", data: "c" },
      { id: "2", type: "message", data: "" },
    ];
    for (let size = 1; size <= text.length; size++) {
      const parse = createSseParser();
      const events = [];
      for (let at = 0; at < text.length; at += size) events.push(...parse(text.slice(at, at + size)));
      assert.deepEqual([...events, ...parse("\n")], expected, `pieces of ${size}`);
    }
  });
});

/** Starts a run that waits. */
async function startWaitingRun(client: Client): Promise<string> {
  const flow = defineWorkflow({ key: freshWord(), timeout: "1d" }, (steps) => {
    steps.waitTimer("wait", { for: "1h" });
  });
  const { id } = await client.workflowDefinitions.create({ document: flow.document });
  await client.workflowDefinitions.publish({ id });
  return (await client.workflowRuns.start(flow.run({}))).run!.id;
}

describe("the verification of webhooks", () => {
  const secret = `whsec_${Buffer.from("a secret of thirty-two characters").toString("base64")}`;
  const old = `whsec_${Buffer.from("another one of thirty-two letters").toString("base64")}`;
  const body = JSON.stringify({ type: "order.paid", data: { cents: 4200, text: "für dich" } });
  const sentAt = new Date("2026-03-01T12:00:00Z");
  const headers = (signature = new Webhook(secret).sign("msg_1", sentAt, body)) => ({
    "webhook-id": "msg_1",
    "webhook-timestamp": String(sentAt.getTime() / 1000),
    "webhook-signature": signature,
  });
  const now = new Date(sentAt.getTime() + 60_000);

  test("a genuine webhook gives its event, also as bytes and during a rotation", async () => {
    assert.equal((await verifyWebhook(body, headers(), secret, { now })).type, "order.paid");
    assert.equal((await verifyWebhook(Buffer.from(body), new Headers(headers()), secret, { now })).type, "order.paid");
    const both = `${new Webhook(old).sign("msg_1", sentAt, body)} ${new Webhook(secret).sign("msg_1", sentAt, body)}`;
    assert.equal((await verifyWebhook(body, headers(both), secret, { now })).type, "order.paid");
    assert.equal((await verifyWebhook(body, headers(), [old, secret], { now })).type, "order.paid");
  });

  test("everything else is refused", async () => {
    const refused = async (...args: Parameters<typeof verifyWebhook>) =>
      assert.rejects(verifyWebhook(...args), WebhookVerificationError);
    await refused(body.replace("4200", "4201"), headers(), secret, { now });
    await refused(body, { ...headers(), "webhook-id": "msg_2" }, secret, { now });
    await refused(body, headers(), old, { now });
    await refused(body, headers(), secret, { now: new Date(sentAt.getTime() + 301_000) });
    await refused(body, headers(), secret, { now: new Date(sentAt.getTime() - 301_000) });
    await refused(body, { ...headers(), "webhook-timestamp": "now" }, secret, { now });
    await refused(body, { ...headers(), "webhook-signature": undefined }, secret, { now });
    for (const signature of ["v1,", "v1,!", "v2,AAAA", ""]) await refused(body, headers(signature), secret, { now });
    await assert.rejects(verifyWebhook(body, headers(), "", { now }), TypeError);
  });
});
