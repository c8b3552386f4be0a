import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { createClient, verifyWebhook, WebhookVerificationError } from "../../clients/typescript/src/index.ts";
import { createSseParser } from "../../clients/typescript/src/streams/sse-parser.ts";
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
