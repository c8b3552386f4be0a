import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { afterFile } from "../harness/after-file.ts";
import { findPrometheus } from "../harness/prometheus.ts";
import { startService, type TestService } from "../harness/service.ts";
import { newTenant, type TenantFixture } from "../routing/tenant-fixture.ts";

/** A node, two tenants and a Prometheus with series of both. */
export interface AnalyticsFixture {
  readonly service: TestService;
  readonly own: TenantFixture;
  readonly foreign: TenantFixture;
  /** Every query that the node has sent to Prometheus, as it was sent. */
  readonly sent: string[];
  /** The time range that has series. */
  readonly range: { readonly start: string; readonly end: string; readonly step_s: number };
  /** Queries Prometheus directly; undefined if it refuses the query. */
  direct(query: string): Promise<readonly DirectSeries[] | undefined>;
}

/** A series as Prometheus returns it. */
interface DirectSeries {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [number, string])[];
}

const stepS = 300;
const minutes = 120;

/** Sets the fixture; undefined if this machine has no Prometheus. */
export async function createAnalyticsFixture(): Promise<AnalyticsFixture | undefined> {
  const prometheus = await findPrometheus();
  if (prometheus === undefined) return undefined;
  afterFile(() => prometheus.stop());
  const sent: string[] = [];
  const service = await startService({
    "analytics.enabled": "true",
    "analytics.prometheus_url": `${await startRecorder(prometheus.url, sent)}/`,
  });
  const own = await newTenant(service);
  const foreign = await newTenant(service);
  const startS = (Math.floor(Date.now() / 60_000) - 3 * minutes) * 60;
  await prometheus.start(seriesOf(own.id, foreign.id, startS), new URL(service.metricsUrl).host);
  const endS = startS + minutes * 60;
  return {
    ...{ service, own, foreign, sent },
    range: { start: new Date(startS * 1000).toISOString(), end: new Date(endS * 1000).toISOString(), step_s: stepS },
    async direct(query) {
      const body = new URLSearchParams({ query, start: `${startS}`, end: `${endS}`, step: `${stepS}` });
      const response = await fetch(`${prometheus.url}/api/v1/query_range`, { method: "POST", body });
      const answer = (await response.json()) as { status: string; data?: { result: DirectSeries[] } };
      return answer.status === "success" ? answer.data!.result : undefined;
    },
  };
}

/** Forwards requests to Prometheus and notes their queries. */
async function startRecorder(target: string, sent: string[]): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = await readText(request);
    sent.push(new URLSearchParams(body).get("query")!);
    const answer = await fetch(target + request.url, {
      method: "POST",
      body,
      headers: { "content-type": request.headers["content-type"]! },
    });
    response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  afterFile(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Two hours of counters. Those of the foreign tenant have other values in their labels, and are a million times as large. */
function seriesOf(own: string, foreign: string, startS: number): string {
  const metrics = {
    routing_decisions: [{ outcome: "a" }, { outcome: "b" }, { outcome: "it's" }],
    workflow_runs_ended: [{ status: "a" }, { status: "none" }],
    notification_deliveries: [
      { channel: "a", outcome: "a" },
      { channel: "a", outcome: "b" },
      { channel: "b", outcome: 'say \\"x\\"' },
    ],
  };
  const lines: string[] = [];
  for (const [name, all] of Object.entries(metrics)) {
    lines.push(`# TYPE ${name} counter`);
    for (const [nth, labels] of all.entries()) {
      const texts = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
      lines.push(...samplesOf(name, [`tenant_id="${own}"`, ...texts], startS, nth + 1));
      lines.push(
        ...samplesOf(
          name,
          [`tenant_id="${foreign}"`, ...texts.slice(1), foreignLabel(labels)],
          startS,
          1e6 * (nth + 1),
        ),
      );
    }
  }
  lines.push(
    "# TYPE foreign_only counter",
    ...samplesOf("foreign_only", [`tenant_id="${foreign}"`], startS, 1e6),
    "# EOF",
  );
  return `${lines.join("\n")}\n`;
}

function foreignLabel(labels: object): string {
  const [[label, text]] = Object.entries(labels) as [[string, string]];
  return `${label}="foreign ${text}"`;
}

function samplesOf(name: string, labels: readonly string[], startS: number, factor: number): string[] {
  return Array.from({ length: minutes + 1 }, (_, minute) => {
    return `${name}_total{${labels.join(",")}} ${factor * (7 * minute + (minute % 7))} ${startS + 60 * minute}`;
  });
}
