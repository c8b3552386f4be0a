import assert from "node:assert/strict";
import { before, test } from "node:test";
import { create, fromBinary, fromJson, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import {
  GetOperationalHealthReportRequestSchema,
  type GetOperationalHealthReportResponse,
  GetOperationalHealthReportResponseSchema,
  type OperationalHealthReport,
  OperationalHealthReportSchema,
} from "../../gen/service/api/operational_health_pb.ts";
import { digestOf } from "../../src/modules/operations/health/domain/ruleset.ts";
import { canonicalJson } from "../../src/platform/crypto/index.ts";
import { createJsonEncoder } from "../../src/platform/protojson/index.ts";
import { cli } from "../cli/cli-run.ts";
import { afterFile } from "../harness/after-file.ts";
import type { Json } from "../harness/operations.ts";
import { type RestClient, restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { PlainBrowser } from "../identity/plain-browser.ts";
import { sendMessage } from "../mcp/mcp-client.ts";

const tool = "api_operationalhealthservice_getoperationalhealthreport";
const method = "/service.api.OperationalHealthService/GetOperationalHealthReport";
const request = { environment: "production", period: "2h" };
const query = new URLSearchParams(request).toString();
const encode = createJsonEncoder(OperationalHealthReportSchema, "proto");

let service: TestService;
let rest: RestClient;
let browser: PlainBrowser;
let tenantId: string;
before(async () => {
  service = await startService({ "mcp.enabled": "true" });
  rest = restClient(service.baseUrl, service.adminKey);
  browser = await signedIn(rest);
  tenantId = (await rest.call("GET", "/api/tenants")).body.data[0].id;
  // Every source must have reported once.
  let period = 300;
  await until(async () => {
    const { body } = await rest.call("GET", `/api/operational-health/report?period=${period++}s`);
    return body.data.verdict === "healthy";
  });
});

async function signedIn(client: RestClient): Promise<PlainBrowser> {
  const { body } = await client.call("POST", "/api/v2/identity/login-links", {});
  const opened = new PlainBrowser();
  await opened.openLink(body.data.url);
  return opened;
}

/** The JSON of the report in the body of a response. */
function reportIn(text: string): string {
  return /^\{"data":(.*),"metadata":\{[^{}]*\}\}\n?$/.exec(text)![1]!;
}

function callGrpc(): Promise<OperationalHealthReport> {
  const client = new Client(new URL(service.baseUrl).host, credentials.createInsecure());
  afterFile(() => client.close());
  const metadata = new Metadata();
  metadata.set("x-api-key", service.adminKey);
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest<Json, GetOperationalHealthReportResponse>(
      method,
      (message) =>
        Buffer.from(
          toBinary(GetOperationalHealthReportRequestSchema, create(GetOperationalHealthReportRequestSchema, message)),
        ),
      (bytes) => fromBinary(GetOperationalHealthReportResponseSchema, bytes),
      request,
      metadata,
      (error, response) => (error === null ? resolve(response!.report!) : reject(error)),
    );
  });
}

/** The report of each client, as the JSON of REST. */
const clients: Readonly<Record<string, () => Promise<string>>> = {
  REST: async () => reportIn((await rest.call("GET", `/api/operational-health/report?${query}`)).text),
  async Connect() {
    const { body } = await rest.call("POST", method, request);
    return encode(fromJson(OperationalHealthReportSchema, body.report));
  },
  gRPC: async () => encode(await callGrpc()),
  async MCP() {
    const headers = { "x-api-key": service.adminKey };
    const { body } = await sendMessage(
      `${service.baseUrl}/mcp`,
      "tools/call",
      { name: tool, arguments: request },
      { headers },
    );
    assert.deepEqual(body.result.structuredContent, JSON.parse(body.result.content[0].text));
    return reportIn(body.result.content[0].text);
  },
  async CLI() {
    const options = ["--address", service.baseUrl, "--key", service.adminKey, "--json"];
    const { out, exitCode } = await cli([
      "report",
      "health",
      "--environment",
      "production",
      "--period",
      "2h",
      ...options,
    ]);
    assert.equal(exitCode, 0);
    return reportIn(out);
  },
  async page() {
    const { status, body } = await browser.send("GET", `${service.baseUrl}/workspaces/${tenantId}/health?${query}`);
    assert.equal(status, 200);
    const escaped = /<pre id="report">(.*)<\/pre>/.exec(body)![1]!;
    return escaped.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
  },
};

test("six clients get the same report, byte for byte", async () => {
  for (let round = 1; ; round++) {
    const before = await clients.REST!();
    const reports = new Map<string, string>();
    for (const [name, read] of Object.entries(clients)) reports.set(name, await read());
    // A report that expired meanwhile was computed again.
    if ((await clients.REST!()) !== before && round < 5) continue;
    for (const [name, report] of reports) assert.equal(report, before, name);
    assert.equal(reports.size, 6);
    return;
  }
});

test("the id of a report is a digest of the rules and of all its numbers", async () => {
  const report = JSON.parse(await clients.REST!());
  const { ruleset, scope, window, signals, sources, dependencies } = report;
  const expected = digestOf({
    ruleset: ruleset.digest,
    scope,
    window: { start: new Date(window.start).toISOString(), end: new Date(window.end).toISOString() },
    signals: signals.map(({ name, level, value, evidence }: Json) => ({ name, level, value, evidence })),
    sources: sources.map(({ name, age_s, clock_skew_ms }: Json) => ({ name, age_s, clock_skew_ms })),
    dependencies: dependencies.map(({ name, state, age_s }: Json) => ({ name, state, age_s })),
  });
  assert.equal(report.id, expected, canonicalJson(report));
  assert.deepEqual([report.version, ruleset.version], ["v1", "v1"]);
});

test("the page is for the person's own workspace, by id or slug, and others lead to sign-in or nowhere", async () => {
  const get = (path: string, from = browser, headers = {}) => from.send("GET", service.baseUrl + path, { headers });
  for (const tenant of [tenantId, "platform"]) assert.equal((await get(`/workspaces/${tenant}/health`)).status, 200);
  const path = `/workspaces/platform/health?${query}`;
  const unknown = await get(path, new PlainBrowser());
  assert.equal(unknown.status, 303);
  const location = new URL(unknown.headers.location!, service.baseUrl);
  assert.deepEqual(
    [location.pathname, location.searchParams.get("workspace"), location.searchParams.get("return_to")],
    ["/auth/sign-in", "platform", path],
  );
  const { body } = await rest.call("POST", "/api/tenants", { name: "other", issue_admin_key: true });
  const other = await signedIn(restClient(service.baseUrl, body.data.admin_key));
  const refused = await get(`/workspaces/${tenantId}/health`, other);
  assert.deepEqual([refused.status, refused.headers["content-type"]], [404, "text/html; charset=utf-8"]);
  assert.doesNotMatch(refused.body, /Platform|<script/);
  assert.equal((await get("/workspaces/platform/health?period=1s")).status, 400);
});

test("a link on another site leads to the page, but its scripts and frames get nothing", async () => {
  const url = `${service.baseUrl}/workspaces/platform/health`;
  const from = (mode: string, dest: string) =>
    browser.send("GET", url, {
      headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": mode, "sec-fetch-dest": dest },
    });
  const page = await from("navigate", "document");
  assert.equal(page.status, 200);
  const policy = page.headers["content-security-policy"] as string;
  assert.match(policy, /^default-src 'none'; .*frame-ancestors 'none'/);
  assert.match(policy, /script-src 'self';/);
  assert.doesNotMatch(policy, /unsafe/);
  assert.doesNotMatch(page.body, /<script(?! [^>]*src="\/console\/)/, "there are only scripts of the console");
  assert.equal((await from("no-cors", "script")).status, 403);
  assert.equal((await from("navigate", "iframe")).status, 403);
});

test("the page shows texts of its address as texts", async () => {
  const hostile = encodeURIComponent('"><script>alert(1)</script>');
  const { status, body } = await browser.send(
    "GET",
    `${service.baseUrl}/workspaces/platform/health?environment=${hostile}&period=1h`,
  );
  assert.equal(status, 404);
  assert.doesNotMatch(body, /alert\(1\)<\/script/);
});
