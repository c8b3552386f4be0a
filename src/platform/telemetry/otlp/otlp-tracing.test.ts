import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { fail } from "../../../errors/index.ts";
import { createOtlpTracing } from "./otlp-tracing.ts";

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number; boolValue?: boolean };
}
interface ExportedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Attribute[];
  status: { code: number };
  events: { name: string; attributes: Attribute[] }[];
  startTimeUnixNano: string;
  endTimeUnixNano: string;
}
interface Received {
  path: string;
  headers: Record<string, unknown>;
  service: string | undefined;
  spans: ExportedSpan[];
}

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const spanId = "00f067aa0ba902b7";

// A collector that stores the spans it receives.
async function collector(t: TestContext, status = 200) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = JSON.parse((await request.toArray()).join(""));
    for (const { resource, scopeSpans } of body.resourceSpans) {
      received.push({
        path: request.url ?? "",
        headers: request.headers,
        service: valuesOf(resource.attributes)["service.name"] as string | undefined,
        spans: scopeSpans.flatMap((scope: { spans: ExportedSpan[] }) => scope.spans),
      });
    }
    response.writeHead(status, { "content-type": "application/json" }).end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    spans: () => received.flatMap(({ spans }) => spans),
  };
}

function valuesOf(attributes: Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

test("an ended span reaches the collector as JSON, under the caller's trace, with its attributes", async (t) => {
  const sink = await collector(t);
  const tracing = createOtlpTracing({
    endpoint: sink.endpoint,
    serviceName: "switchyard",
    headers: { "x-team": "a" },
  });
  const span = tracing.startSpan("service.api.PoolService/CreatePool", {
    kind: "server",
    parent: `00-${traceId}-${spanId}-01`,
    attributes: { "rpc.system.name": "connectrpc" },
  });
  span.setAttribute("retry", true);
  const child = tracing.startSpan("query", { kind: "client", parent: span.traceparent });
  child.end();
  span.end();
  await tracing.close();

  const [first] = sink.received;
  assert.equal(first?.path, "/v1/traces");
  assert.equal(first?.headers["content-type"], "application/json");
  assert.equal(first?.headers["x-team"], "a");
  assert.equal(first?.service, "switchyard");
  const server = sink.spans().find(({ kind }) => kind === 2);
  assert.equal(server?.name, "service.api.PoolService/CreatePool");
  assert.deepEqual([server?.traceId, server?.parentSpanId, server?.spanId], [traceId, spanId, span.spanId]);
  assert.deepEqual(valuesOf(server!.attributes), { "rpc.system.name": "connectrpc", retry: true });
  assert.ok(BigInt(server!.endTimeUnixNano) >= BigInt(server!.startTimeUnixNano));
  const client = sink.spans().find(({ kind }) => kind === 3);
  assert.deepEqual([client?.traceId, client?.parentSpanId], [traceId, span.spanId]);
});

test("an invalid traceparent starts a new trace, and a caller's decision not to sample is respected", async (t) => {
  const sink = await collector(t);
  const tracing = createOtlpTracing({ endpoint: sink.endpoint, serviceName: "switchyard" });
  tracing.startSpan("fresh", { kind: "server", parent: "00-garbage" }).end();
  const unrecorded = tracing.startSpan("quiet", { kind: "server", parent: `00-${traceId}-${spanId}-00` });
  assert.equal(unrecorded.traceId, traceId);
  assert.equal(unrecorded.traceparent, `00-${traceId}-${unrecorded.spanId}-00`);
  unrecorded.end();
  await tracing.close();
  assert.deepEqual(
    sink.spans().map(({ name, parentSpanId }) => [name, parentSpanId ?? ""]),
    [["fresh", ""]],
  );
});

test("a failed span has the error code of the catalogue or, for other errors, the error's name", async (t) => {
  const sink = await collector(t);
  const tracing = createOtlpTracing({ endpoint: sink.endpoint, serviceName: "switchyard" });
  for (const error of [fail("UNAVAILABLE"), new TypeError("boom"), "text"]) {
    const span = tracing.startSpan("call", { kind: "server" });
    span.recordError(error);
    span.end();
  }
  await tracing.close();
  assert.deepEqual(
    sink.spans().map(({ status, attributes }) => [status.code, valuesOf(attributes)["error.type"]]),
    [
      [2, "UNAVAILABLE"],
      [2, "TypeError"],
      [2, "unknown"],
    ],
  );
});

test("spans are exported in batches, and close exports all of them", async (t) => {
  const sink = await collector(t);
  const tracing = createOtlpTracing({ endpoint: sink.endpoint, serviceName: "switchyard" });
  for (let n = 0; n < 2000; n++) tracing.startSpan("call", { kind: "server" }).end();
  await tracing.close();
  assert.equal(sink.spans().length, 2000);
  assert.ok(sink.received.length <= 5, `${sink.received.length} requests`);
});

test("a sample ratio limits the fraction of new traces that is recorded", async (t) => {
  const sink = await collector(t);
  const tracing = createOtlpTracing({ endpoint: sink.endpoint, serviceName: "switchyard", sampleRatio: 0 });
  tracing.startSpan("new", { kind: "server" }).end();
  tracing.startSpan("asked for", { kind: "server", parent: `00-${traceId}-${spanId}-01` }).end();
  await tracing.close();
  assert.deepEqual(
    sink.spans().map(({ name }) => name),
    ["asked for"],
  );
});

test("an unreachable collector is reported, uses bounded memory, and does not delay close", async (t) => {
  const sink = await collector(t, 400);
  const errors: Error[] = [];
  const tracing = createOtlpTracing({
    endpoint: sink.endpoint,
    serviceName: "switchyard",
    onError: (error) => errors.push(error),
  });
  for (let n = 0; n < 20_000; n++) tracing.startSpan("call", { kind: "server" }).end();
  await tracing.close();
  assert.ok(errors.length > 0);
  assert.ok(sink.spans().length <= 4096 + 512, `${sink.spans().length} spans were kept`);
});

test("an endpoint that is not a URL is refused at startup", () => {
  assert.throws(
    () => createOtlpTracing({ endpoint: "not a url", serviceName: "switchyard" }),
    /not a url is not a URL/,
  );
});
