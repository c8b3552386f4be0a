import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { addressOf, startTcpProxy } from "../../src/cli/prove/nodes/database-proxy.ts";
import { verifyAudit } from "../../src/platform/audit/index.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { restClient } from "../harness/rest.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly parentSpanId: string;
}

/** The part of an OTLP request that the tests read. */
interface Export {
  readonly resourceSpans: { readonly scopeSpans: { readonly spans: Span[] }[] }[];
}

test("every change and every rejection is in the audit log, chained, and no secret is", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "switchyard-audit-")), "audit.log");
  const service = await startService({ "audit.sink": "file", "audit.path": path, "audit.redact_pii": "true" });
  const admin = restClient(service.baseUrl, service.adminKey);
  const created = await admin.call("POST", "/api/v2/secrets", { name: "planted", value: "hunter2-hunter2" });
  await admin.call("POST", "/api/v2/members", { email: "ada@example.com" });
  await admin.call("GET", "/api/v2/secrets");
  await restClient(service.baseUrl, "sk_test_nobody_0123456789").call("GET", "/api/v2/secrets");
  const reader = await admin.call("POST", "/api/v2/api-keys", { name: "reader", roles: ["viewer"] });
  await restClient(service.baseUrl, reader.body.data.secret).call("GET", "/api/v2/secrets");
  await service.stop();

  const text = readFileSync(path, "utf8");
  const lines = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const seen = lines.map(({ operation, outcome }) => `${operation.split("/")[1]} ${outcome}`);
  assert.deepEqual(seen, [
    "CreateSecret succeeded",
    "InviteMember succeeded",
    "ListSecrets denied",
    "CreateApiKey succeeded",
    "ListSecrets denied",
  ]);
  for (const secret of ["hunter2", "ada@example.com", reader.body.data.secret, service.adminKey]) {
    assert.ok(!text.includes(secret), `${secret} is in the audit log`);
  }
  assert.equal(created.status, 200);
  assert.deepEqual((await verifyAudit(path)).ok, true);
});

test("a call is a span of its caller's trace, sent to the configured collector", async (t) => {
  const spans: Span[] = [];
  const collector = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { resourceSpans }: Export = JSON.parse(Buffer.concat(chunks).toString());
    spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
    response.end("{}");
  });
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
  t.after(() => collector.close());
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const service = await startService({ "telemetry.otlp_endpoint": endpoint });
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const parentId = "b7ad6b7169203331";
  const traceparent = `00-${traceId}-${parentId}-01`;
  await restClient(service.baseUrl, service.adminKey).call("GET", "/api/tenants", undefined, { traceparent });
  await service.stop();
  const span = spans.find(({ name }) => name === "service.api.TenantService/ListTenants");
  assert.equal(span?.traceId, traceId);
  assert.equal(span?.parentSpanId, parentId);
});

test("metrics count calls by operation, protocol, plane and code, and never name a tenant", async () => {
  const service = await startService();
  const admin = restClient(service.baseUrl, service.adminKey);
  const { body } = await admin.call("GET", "/api/tenants");
  await restClient(service.baseUrl).call("GET", "/api/tenants");
  const { text } = await restClient(service.metricsUrl).call("GET", "/metrics");
  for (const code of ["OK", "UNAUTHENTICATED"]) {
    const labels = `operation="service.api.TenantService/ListTenants",protocol="rest",plane="external",code="${code}"`;
    assert.match(text, new RegExp(`rpc_server_call_duration_seconds_count\\{${labels}\\} 1`));
  }
  assert.ok(!text.includes(body.data[0].id));
});

test("while the database does not respond, the metrics say so and show everything else", async (t) => {
  const { url, drop } = await freshDatabase();
  const proxy = await startTcpProxy(addressOf(url));
  const proxied = new URL(url);
  proxied.searchParams.delete("host");
  proxied.hostname = "127.0.0.1";
  proxied.port = String(proxy.port);
  const service = await startService({}, proxied.href);
  t.after(async () => {
    proxy.thaw();
    await service.stop();
    await proxy.close();
    await drop();
  });
  const readSeries = async (series: string) => {
    const { text } = await restClient(service.metricsUrl).call("GET", "/metrics");
    return text
      .split("\n")
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length + 1);
  };
  const unhealthy = 'unhealthy_components{component="database"}';
  const backlog = 'backlog_rows{backlog="queue_items"}';
  await until(async () => (await readSeries(unhealthy)) === "0" && (await readSeries(backlog)) === "0");
  assert.equal(await readSeries("database_waiting"), "0");
  proxy.freeze();
  await until(async () => (await readSeries(unhealthy)) === "1");
  assert.equal(await readSeries(backlog), "0", "what was read before");
  assert.ok(Number(await readSeries("process_pid")) > 0);
  proxy.thaw();
  await until(async () => (await readSeries(unhealthy)) === "0");
});
