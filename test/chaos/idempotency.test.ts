import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { freshDatabase, type TestDatabase } from "../harness/postgres.ts";
import { sized } from "../harness/run-size.ts";
import { type PostResponse, postUntilAnswered, type SupervisedNode, supervise } from "./supervised-node.ts";

const copies = 20;
const eventCount = sized(200, 1000);
const environmentCount = sized(20, 60);
const eventCrashes = 3;
const environmentCrashes = 2;
let database: TestDatabase;
let service: SupervisedNode;

before(async () => {
  database = await freshDatabase();
  const settings = { "database.url": database.url, "auth.bootstrap_api_key": "sk_test_chaos_0123456789abcdef" };
  service = await supervise(settings, eventCrashes + environmentCrashes);
});
after(async () => {
  await service.stop();
  await database.drop();
});

/** Sends every request many times concurrently while the service crashes; returns the responses by request. */
async function sendThroughCrashes(
  path: string,
  bodies: readonly object[],
  { crashes, atOnce }: { crashes: number; atOnce: number },
): Promise<PostResponse[][]> {
  const answers: PostResponse[][] = bodies.map(() => []);
  const total = bodies.length * copies;
  let answered = 0;
  let crashed = 0;
  const crashing: Promise<void>[] = [];
  const send = async (index: number) => {
    answers[index]!.push(await postUntilAnswered(service, path, bodies[index]!, `${path}-${index}`));
    answered++;
    if (crashed < crashes && answered > (total * (crashed + 1)) / (crashes + 1)) {
      crashed++;
      crashing.push(service.crash());
    }
  };
  let next = 0;
  const worker = async () => {
    while (next < bodies.length) {
      const index = next++;
      await Promise.all(Array.from({ length: copies }, () => send(index)));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  await Promise.all(crashing);
  assert.equal(crashed, crashes);
  return answers;
}

/** Asserts that all copies of a request got the same response, and returns it. */
function sameResponse(copiesOfOne: readonly PostResponse[]): PostResponse {
  assert.equal(copiesOfOne.length, copies);
  for (const { status, body } of copiesOfOne) {
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(body.data, copiesOfOne[0]!.body.data);
  }
  return copiesOfOne[0]!;
}

test(`${eventCount} events published 20 times each through three crashes are logged once, and all copies get one response`, async () => {
  const bodies = Array.from({ length: eventCount }, (_, i) => ({
    type: "order.paid",
    subject: `order-${i}`,
    data: { i },
  }));
  const answers = await sendThroughCrashes("/api/events", bodies, { crashes: eventCrashes, atOnce: 25 });

  const rows = await database.sql`select id, subject from events where type = 'order.paid'`;
  const ids = new Map(rows.map((row) => [row.subject, row.id]));
  assert.equal(rows.length, bodies.length);
  assert.equal(ids.size, bodies.length);
  for (const [index, ofOne] of answers.entries()) {
    assert.equal(sameResponse(ofOne).body.data.id, ids.get(bodies[index]!.subject));
  }
});

test("environments created 20 times each through two crashes exist once, with one event, and all copies get one response", async () => {
  const bodies = Array.from({ length: environmentCount }, (_, i) => ({ key: `lab-${i}` }));
  const answers = await sendThroughCrashes("/api/v2/environments", bodies, { crashes: environmentCrashes, atOnce: 5 });

  const rows = await database.sql`
    select e.id, e.key, (select count(*)::int from events where type = 'environment.created' and subject = e.id) as events
    from environments e where e.key like 'lab-%'`;
  assert.equal(rows.length, bodies.length);
  const byKey = new Map(rows.map((row) => [row.key, row]));
  for (const [index, ofOne] of answers.entries()) {
    const row = byKey.get(bodies[index]!.key)!;
    assert.equal(sameResponse(ofOne).body.data.id, row.id);
    assert.equal(row.events, 1);
  }
  const [left] =
    await database.sql`select count(*)::int as pending from idempotency_records where state <> 'completed'`;
  assert.equal(left!.pending, 0, "no claim is left behind");
});
