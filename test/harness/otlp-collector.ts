import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A value of OTLP in JSON. */
interface AnyValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly kvlistValue?: { readonly values: readonly KeyValue[] };
  readonly arrayValue?: { readonly values: readonly AnyValue[] };
}

interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly resource: Attributes;
  // biome-ignore lint/suspicious/noExplicitAny: spans, metrics and log records as they were sent.
  readonly items: readonly any[];
}

type Attributes = Readonly<Record<string, unknown>>;

/** A collector that decodes OTLP/HTTP in JSON. It can be down, and come back at the same address. */
export interface OtlpCollector {
  readonly endpoint: string;
  readonly received: Received[];
  /** The items of a signal, each with the attributes of its resource. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  items(signal: "traces" | "metrics" | "logs"): { readonly resource: Attributes; readonly item: any }[];
  up(): Promise<void>;
  down(): Promise<void>;
}

const lists = {
  "/v1/traces": ["resourceSpans", "scopeSpans", "spans"],
  "/v1/metrics": ["resourceMetrics", "scopeMetrics", "metrics"],
  "/v1/logs": ["resourceLogs", "scopeLogs", "logRecords"],
} as const;

/** Starts a collector. It answers with this status. */
export async function startOtlpCollector(after: (stop: () => unknown) => void, status = 200): Promise<OtlpCollector> {
  const received: Received[] = [];
  let server: Server | undefined;
  let port = 0;
  async function up(): Promise<void> {
    server = createServer(async (request, response) => {
      const body = JSON.parse((await request.toArray()).join(""));
      const path = request.url as keyof typeof lists;
      const [resources, scopes, items] = lists[path];
      if (status === 200)
        for (const { resource, [scopes]: scoped } of body[resources])
          received.push({
            path,
            headers: request.headers,
            resource: attributesOf(resource.attributes),
            items: scoped.flatMap((scope: Record<string, unknown[]>) => scope[items]),
          });
      response.writeHead(status, { "content-type": "application/json" }).end("{}");
    }).listen(port, "127.0.0.1");
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
  }
  async function down(): Promise<void> {
    const closing = server;
    server = undefined;
    if (closing === undefined) return;
    const closed = once(closing, "close");
    closing.close();
    closing.closeAllConnections();
    await closed;
  }
  await up();
  after(down);
  return {
    ...{ endpoint: `http://127.0.0.1:${port}`, received, up, down },
    items: (signal) =>
      received
        .filter(({ path }) => path === `/v1/${signal}`)
        .flatMap(({ resource, items }) => items.map((item) => ({ resource, item }))),
  };
}

/** Decodes the attributes of a resource or an item. */
export function attributesOf(attributes: readonly KeyValue[]): Attributes {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, decode(value)]));
}

function decode(value: AnyValue): unknown {
  if (value.kvlistValue !== undefined) return attributesOf(value.kvlistValue.values);
  if (value.arrayValue !== undefined) return value.arrayValue.values.map(decode);
  return Object.values(value)[0];
}
