import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { post, postUntilAnswered, type SupervisedNode, supervise } from "../chaos/supervised-node.ts";
import { afterFile } from "../harness/after-file.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { fc } from "../harness/random.ts";
import { restClient } from "../harness/rest.ts";
import { sized } from "../harness/run-size.ts";
import { until } from "../harness/until.ts";
import { restStreams, rpcStreams } from "./stream-client.ts";

const records = sized(1500, 1_000_000);
const appenders = sized(16, 64);
/** Every other call appends this many records, the rest append one. */
const batchSize = sized(4, 40);
const adminKey = "sk_test_streams_0123456789abcdef";

/** Follows a stream through crashes, as a client does: it continues after the last record that it has. */
async function followAll(
  nodes: readonly SupervisedNode[],
  protocol: "REST" | "gRPC",
  at: number,
  { runId, id }: { readonly runId: string; readonly id: string },
): Promise<number> {
  let cursor = 0;
  for (let attempt = 0; cursor < records; attempt++) {
    const { baseUrl } = await nodes[(at + attempt) % nodes.length]!.current;
    const client = protocol === "REST" ? restStreams(baseUrl, adminKey) : rpcStreams("gRPC", baseUrl, adminKey);
    const leave = new AbortController();
    try {
      for await (const { sequence, payload } of client.subscribe(runId, id, cursor, leave.signal)) {
        assert.equal(sequence, cursor + 1, `subscriber ${at} got ${sequence} after ${cursor}`);
        assert.equal(typeof (payload as { n: number }).n, "number");
        cursor = sequence;
        if (cursor === records) break;
      }
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      await delay(20);
    } finally {
      leave.abort();
    }
  }
  return cursor;
}

test("subscribers get every record once and in order while nodes are killed and stop listening", async () => {
  const database = await freshDatabase();
  const settings = { "database.url": database.url, "auth.bootstrap_api_key": adminKey };
  // Faults in a random order, spread over the appends.
  const kinds = Array.from({ length: sized(4, 100) }, (_, at) => (at % 2 === 0 ? "kill" : "unlisten"));
  const [faults] = fc.sample(fc.shuffledSubarray(kinds, { minLength: kinds.length }), 1) as [string[]];
  const killsOf = (at: number) => faults.filter((fault, nth) => fault === "kill" && nth % 2 === at).length;
  const nodes = await Promise.all([supervise(settings, killsOf(0)), supervise(settings, killsOf(1))]);
  afterFile(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await database.drop();
  });
  const first = await nodes[0]!.current;
  const rest = restClient(first.baseUrl, adminKey);
  const document = {
    ...{ dsl: "1", key: "endless", timeout: "10d" },
    steps: [{ id: "wait", wait_event: { event: "never", timeout: "9d" } }],
  };
  const definition = (await rest.call("POST", "/api/workflow-definitions", { document })).body.data;
  await rest.call("POST", `/api/workflow-definitions/${definition.id}/publish`, {});
  const { run } = (await post(first, "/api/workflow-runs", { definition: "endless" })).body.data;
  const base = `/api/workflow-streams/runs/${run.id}/streams`;
  const ceilings = { unread_items: 10_000_000, unread_bytes: 1_000_000_000_000, total_items: 10_000_000 };
  const { id } = (await post(first, base, { name: "audit", pins: { ceilings } })).body.data;
  const stream = { runId: run.id as string, id: id as string };

  const following = [
    followAll(nodes, "REST", 0, stream),
    followAll(nodes, "gRPC", 1, stream),
    followAll(nodes, "REST", 2, stream),
    followAll(nodes, "gRPC", 3, stream),
  ];
  let next = 0;
  let appended = 0;
  let calls = 0;
  const appending = Array.from({ length: appenders }, async () => {
    while (next < records) {
      const n = next;
      const count = calls++ % 2 === 0 ? 1 : Math.min(batchSize, records - n);
      next += count;
      const batch = Array.from({ length: count }, (_, at) => ({ payload: { n: n + at } }));
      const [path, request] = count === 1 ? ["records", batch[0]!] : ["records:batch", { records: batch }];
      const { status, body } = await postUntilAnswered(nodes[n % 2]!, `${base}/${id}/${path}`, request, `n${n}`);
      assert.equal(status, 200, JSON.stringify(body));
      appended += count;
    }
  });

  /** Closes the connections on which nodes listen. Waits for one if all nodes are restarting. */
  const stopListening = () =>
    until(async () => {
      const closed = await database.sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query ilike 'listen %'`;
      return closed.length > 0;
    });
  for (const [nth, fault] of faults.entries()) {
    const due = ((nth + 1) * records) / (faults.length + 1);
    await until(() => appended >= due, Boolean, 300_000);
    if (fault === "kill") await nodes[nth % nodes.length]!.crash();
    else await stopListening();
  }
  await Promise.all(appending);
  assert.deepEqual(await Promise.all(following), [records, records, records, records]);
  const [stored] = await database.sql<{ count: number; distinct: number; last: number }[]>`
    select count(*)::int as count, count(distinct payload ->> 'n')::int as distinct, max(sequence)::int as last
    from workflow_stream_records where stream_id = ${id}`;
  assert.deepEqual(stored, { count: records, distinct: records, last: records }, "every append took effect once");
});
