import assert from "node:assert/strict";
import { before, test } from "node:test";
import { type RestClient, restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { openEvents } from "./event-source.ts";

let service: TestService;
let rest: RestClient;
before(async () => {
  service = await startService();
  rest = restClient(service.baseUrl, service.adminKey);
});

const open = (query = "", headers: Record<string, string> = {}) =>
  openEvents(`${service.baseUrl}/api/events/subscribe${query}`, { "x-api-key": service.adminKey, ...headers });

async function publish(type: string, count: number): Promise<string[]> {
  const responses = await Promise.all(
    Array.from({ length: count }, (_, i) => rest.call("POST", "/api/events", { type, subject: `s${i}` })),
  );
  return responses.map(({ body }) => body.data.id);
}

test("a subscription resumed repeatedly from Last-Event-ID shows every event once and in one order", async () => {
  const [start] = await publish("resume.start", 1);
  const published = new Set<string>();
  const seen: string[] = [];
  let last = start!;
  for (let round = 0; round < 4; round++) {
    const source = await open("?types=resume.made", { "last-event-id": last });
    const publishing = publish("resume.made", 20);
    // Disconnects while events are published; the next subscription gets the rest.
    const events = await source.take(round < 3 ? 13 : 80 - seen.length);
    source.close();
    for (const each of await publishing) published.add(each);
    for (const { id, data } of events) {
      assert.equal(id, data.id);
      seen.push(id);
    }
    last = seen.at(-1)!;
  }
  assert.equal(seen.length, 80);
  assert.deepEqual(new Set(seen), published);
  const whole = await open("?types=resume.made", { "last-event-id": start! });
  assert.deepEqual(
    (await whole.take(80)).map(({ id }) => id),
    seen,
    "one who reads it all at once sees the same order",
  );
  whole.close();
});

test("a subscription without a cursor starts now, and shows the events that match its filter", async () => {
  await publish("before.it", 3);
  const source = await open("?types=after.*&subject=s1");
  await publish("after.it", 3);
  await publish("other.kind", 3);
  await publish("after.that", 2);
  const events = await source.take(2);
  source.close();
  assert.deepEqual(
    events.map(({ data }) => [data.type, data.subject]),
    [
      ["after.it", "s1"],
      ["after.that", "s1"],
    ],
  );
});

test("the cursor in the query works like Last-Event-ID, and the header takes precedence", async () => {
  const [first, second] = [await publish("cursor.made", 1), await publish("cursor.made", 1)].flat();
  const [third] = await publish("cursor.made", 1);
  const byQuery = await open(`?types=cursor.made&cursor=${first}`);
  assert.deepEqual(
    (await byQuery.take(2)).map(({ id }) => id),
    [second, third],
  );
  byQuery.close();
  const byHeader = await open(`?types=cursor.made&cursor=${first}`, { "last-event-id": second! });
  assert.equal((await byHeader.take(1))[0]!.id, third);
  byHeader.close();
});

test("a cursor that is not an event is rejected with a problem, before the stream starts", async () => {
  for (const cursor of ["nonsense", "01HWS6KRG0EXAMPLEKEY000000"]) {
    const { status, headers, body } = await rest.call("GET", "/api/events/subscribe", undefined, {
      "last-event-id": cursor,
    });
    assert.equal(status, 400);
    assert.equal(headers.get("content-type"), "application/problem+json");
    assert.equal(body.violations[0].field, "cursor");
  }
});

test("a stream immediately sends a comment, and a comment every 15 seconds keeps it open", async (t) => {
  const intervals: number[] = [];
  const real = globalThis.setInterval;
  t.mock.method(globalThis, "setInterval", (action: () => void, ms: number, ...rest_: unknown[]) => {
    intervals.push(ms);
    return real(action, ms === 15_000 ? 10 : ms, ...(rest_ as []));
  });
  const source = await open();
  const raw = await source.see(/: heartbeat\n\n: heartbeat\n\n/);
  source.close();
  assert.ok(intervals.includes(15_000));
  assert.equal(raw.replaceAll(": heartbeat\n\n", ""), ": connected\n\n");
  assert.equal(source.headers.get("cache-control"), "no-store");
});

test("a stopping node ends its streams, and their readers resume on another node", async () => {
  const first = await startService();
  const second = await startService({ "auth.bootstrap_api_key": first.adminKey }, first.databaseUrl);
  const key = { "x-api-key": first.adminKey };
  const source = await openEvents(`${first.baseUrl}/api/events/subscribe`, key);
  const elsewhere = restClient(second.baseUrl, first.adminKey);
  const publishOne = async () => (await elsewhere.call("POST", "/api/events", { type: "node.moved" })).body.data.id;
  const one = await publishOne();
  assert.equal((await source.take(1))[0]!.id, one);
  const ended = assert.rejects(source.take(1), /the stream ended/);
  await first.service.stop();
  await ended;
  const two = await publishOne();
  const resumed = await openEvents(`${second.baseUrl}/api/events/subscribe`, { ...key, "last-event-id": one });
  assert.equal((await resumed.take(1))[0]!.id, two);
  resumed.close();
});

test("a daily quota is exact under a burst, and its endpoint reports the numbers", async () => {
  const { body } = await rest.call("POST", "/api/tenants", {
    name: "quota",
    issue_admin_key: true,
    quotas: { "api.call": { limit_per_day: 25 } },
  });
  const { admin_key, ...tenant } = body.data;
  const limited = restClient(service.baseUrl, admin_key);
  const responses = await Promise.all(Array.from({ length: 60 }, () => limited.call("GET", "/api/v2/environments")));
  const refused = responses.filter(({ status }) => status === 429);
  assert.equal(responses.filter(({ status }) => status === 200).length, 25);
  assert.equal(refused.length, 35);
  for (const { body: problem } of refused) {
    assert.equal(problem.errorCode, "QUOTA_EXCEEDED");
    assert.equal(problem.retryable, false);
  }
  const quota = async () => (await rest.call("GET", `/api/tenants/${tenant.id}/quota/api.call`)).body.data;
  const { operation, limit, used, remaining, resets_at } = await quota();
  assert.deepEqual({ operation, limit, used, remaining }, { operation: "api.call", limit: 25, used: 25, remaining: 0 });
  assert.match(resets_at, /T00:00:00Z$/);
  assert.ok(Date.parse(resets_at) > Date.now() && Date.parse(resets_at) - Date.now() <= 86_400_000);

  await rest.call("PATCH", `/api/tenants/${tenant.id}`, { quotas: { "api.call": { limit_per_day: 30 } } });
  const more = await Promise.all(Array.from({ length: 20 }, () => limited.call("GET", "/api/v2/environments")));
  assert.equal(more.filter(({ status }) => status === 200).length, 5, "a raised limit applies immediately");
  assert.equal((await quota()).used, 30);
  const unlimited = await rest.call("GET", `/api/tenants/${tenant.id}/quota/route`);
  assert.equal(unlimited.body.data.limit, undefined);
  assert.equal(unlimited.body.data.used, 0);
});
