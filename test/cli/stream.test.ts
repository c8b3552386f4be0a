import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import test from "node:test";
import { cli } from "./cli-run.ts";
import { startStub } from "./stub-service.ts";

const stub = await startStub();
const at = ["--address", stub.address];
const event = (id: string) => ({ id, type: "a.b", subject: "s", time: "2027-01-01T00:00:00Z", data: { n: 1 } });

function streaming(text: string, ending: (response: ServerResponse) => void = (response) => response.end()) {
  return (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    // Two chunks, because a chunk may end anywhere.
    response.write(text.slice(0, 25));
    response.write(text.slice(25), () => ending(response));
  };
}

const message = (id: string) => `id: ${id}\ndata: ${JSON.stringify(event(id))}\n\n`;
const gone = { status: 404, json: { status: 404, title: "Not found", errorCode: "NOT_FOUND", retryable: false } };

test("every event is one line: JSON for programs, formatted for people", async () => {
  stub.answers(streaming(`: connected\n\n${message("1")}${message("2")}`), gone);
  const json = await cli([...at, "event", "tail", "--types", "a.b"]);
  assert.deepEqual(
    json.out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
    [event("1"), event("2")],
  );
  assert.equal(stub.arrived[0]!.target, "/api/events/subscribe?types=a.b");
  assert.equal(stub.arrived[0]!.headers.accept, "text/event-stream");

  stub.answers(streaming(message("1")), gone);
  const table = await cli([...at, "event", "tail", "--table"]);
  assert.equal(table.out, '1  2027-01-01T00:00:00Z  a.b  s  {"n":1}\n');
});

test("every item of a work stream is one line, however many a message contains", async () => {
  const item = (id: string) => ({ queue_item_id: id, type: "task", key: "k", payload: { n: 1 }, lease_token: "t" });
  const batch = (...ids: string[]) => `data: ${JSON.stringify({ items: ids.map(item) })}\n\n`;
  const words = [...at, "item", "work", "p1", "--max-in-flight", "3"];
  stub.answers(streaming(batch("1", "2") + batch("3")));
  const json = await cli([...words, "--json"]);
  assert.deepEqual(
    json.out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
    ["1", "2", "3"].map(item),
  );
  const [request] = stub.arrived;
  assert.deepEqual([request!.target, request!.body], ["/api/queues/p1/work", { max_in_flight: 3 }]);
  assert.equal(request!.headers["idempotency-key"], undefined);

  stub.answers(streaming(batch("1", "2")));
  const table = await cli([...words, "--table"]);
  assert.equal(table.out, '1  k  task  {"n":1}\n2  k  task  {"n":1}\n');
});

test("a broken stream resumes after the last event", async () => {
  stub.answers(
    streaming(message("1"), (response) => response.destroy()),
    streaming(message("2")),
    gone,
  );
  const { exitCode, out } = await cli([...at, "event", "tail", "--retries", "2"]);
  assert.equal(exitCode, 4);
  assert.equal(out.trimEnd().split("\n").length, 2);
  assert.deepEqual(
    stub.arrived.map(({ headers }) => headers["last-event-id"]),
    [undefined, "1", "2"],
  );
});

test("a stream that ends with an error sets the command's exit code", async () => {
  const problem = { status: 403, title: "Not allowed", errorCode: "PERMISSION_DENIED", retryable: false };
  stub.answers(streaming(`${message("1")}event: error\ndata: ${JSON.stringify(problem)}\n\n`));
  const { exitCode, err } = await cli([...at, "event", "tail"]);
  assert.equal(exitCode, 3);
  assert.match(err, /Not allowed \(403 PERMISSION_DENIED\)/);
  assert.equal(stub.arrived.length, 1);
});

test("a stream that stays unreachable ends as unavailable", async () => {
  stub.answers(streaming(": connected\n\n"));
  const { exitCode, err } = await cli([...at, "event", "tail", "--retries", "1"]);
  assert.equal(exitCode, 6);
  assert.match(err, /The stream was closed/);
  assert.equal(stub.arrived.length, 2);
});

test("a data stream is followed from a sequence, and records are appended from the command line", async () => {
  const record = (sequence: number) => ({
    sequence,
    direction: "output",
    content_class: "data",
    payload: { n: sequence },
  });
  const sent = (sequence: number) => `id: ${sequence}\ndata: ${JSON.stringify(record(sequence))}\n\n`;
  stub.answers(
    streaming(sent(3), (response) => response.destroy()),
    streaming(sent(4)),
    gone,
  );
  const tail = await cli([...at, "stream", "tail", "r1", "audit", "--cursor", "2", "--retries", "2", "--json"]);
  assert.deepEqual(
    tail.out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
    [record(3), record(4)],
  );
  assert.equal(stub.arrived[0]!.target, "/api/workflow-streams/runs/r1/streams/audit/subscribe?cursor=2");
  assert.deepEqual(
    stub.arrived.map(({ headers }) => headers["last-event-id"]),
    [undefined, "3", "4"],
  );

  stub.answers(streaming(`${sent(3)}event: end\ndata: {}\n\n`));
  const ended = await cli([...at, "stream", "tail", "r1", "audit", "--retries", "2", "--json"]);
  assert.deepEqual([ended.exitCode, ended.out, stub.arrived.length], [0, `${JSON.stringify(record(3))}\n`, 1]);

  stub.answers({ status: 200, json: { data: { sequence: 5 } } });
  const appended = await cli([
    ...at,
    "stream",
    "append",
    "r1",
    "audit",
    "--payload",
    '{"n": 5}',
    "--field",
    "sequence",
  ]);
  assert.equal(appended.out, "5\n");
  const [request] = stub.arrived;
  assert.equal(request!.target, "/api/workflow-streams/runs/r1/streams/audit/records");
  assert.deepEqual(request!.body, { payload: { n: 5 } });
});
