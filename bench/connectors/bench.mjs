// Connectors: the cost of an action over its bare request, durable executions, opening credentials, webhooks, compilation of
// manifests, catalogue search.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startEmbedded } from "../../src/platform/db/embedded/embedded.ts";
import { callOk } from "../notifications/call.mjs";
import { authorized, startService } from "../routing/ours/service.mjs";
import { printTable, show } from "../routing/report.mjs";
import { measureCompile } from "./compile.mjs";
import { measureOpening } from "./opening.mjs";
import { measureOverhead } from "./overhead.mjs";
import { startApi } from "./provider-api.mjs";
import { webhookRequest } from "./webhooks.mjs";

const run = promisify(execFile);
const load = join(import.meta.dirname, "../load.mjs");
const catalogueEntries = 10_000;
const actionsPerManifest = 200;

export async function bench({ seconds, rounds }) {
  const dataDir = mkdtempSync(join(tmpdir(), "switchyard-bench-"));
  const database = await startEmbedded({ dataDir });
  const api = await startApi();
  let us;
  try {
    us = await startService({ databaseUrl: database.url });
    const call = (method, path, body) => callOk(us.port, method, path, body);
    const overhead = await measureOverhead(api.url, seconds);
    const { data: connection } = await call("POST", "/api/v2/connector/connections", {
      ...{ name: "bench", provider_key: "http", auth_mode: "api_key", settings: { base_url: api.url } },
      credentials: { header: "authorization", value: "Bearer 0123456789abcdef" },
    });
    const opening = await measureOpening(database.url, connection, seconds);
    const calls = await measureCalls(us.port, connection.id, { seconds, rounds });
    const webhooks = await measureWebhooks(call, us.port, { seconds, rounds });
    const compile = await measureCompile(rounds);
    const search = await measureSearch(call, us.port, seconds);
    print({ overhead, opening, calls, webhooks, compile, search });
    return { overhead, opening, calls, webhooks, compile, search };
  } finally {
    await us?.stop();
    await api.stop();
    await database.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function loaded(port, connections, seconds, request) {
  const { stdout } = await run(process.execPath, [load, JSON.stringify({ port, connections, seconds, request })]);
  return JSON.parse(stdout);
}

/** Durable executions over HTTP, compared with durable events, which are our cheapest write. */
async function measureCalls(port, connection_id, { seconds, rounds }) {
  const post = (path, body) => ({ method: "POST", path, headers: authorized, body: JSON.stringify(body) });
  const input = { method: "POST", path: "notes", body: { text: "hello" } };
  const execute = post("/api/v2/connector/actions/http.request.write:execute", { connection_id, input });
  const lanes = [
    ["execute, 1 connection", 1, execute],
    ["execute, 64 connections", 64, execute],
    ["execute with a key, 64 connections", 64, { ...execute, uniqueKey: true }],
    [
      "event (kernel write), 64 connections",
      64,
      post("/api/events", { type: "order.paid", subject: "order-7", data: { order: 7 } }),
    ],
  ];
  const results = lanes.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [at, [, connections, request]] of lanes.entries()) {
      results[at].push(await loaded(port, connections, seconds, request));
    }
  }
  return lanes.map(([name], at) => ({ name, ...median(results[at]) }));
}

/** Webhook deliveries until they are committed, each with an event of its own. */
async function measureWebhooks(call, port, { seconds, rounds }) {
  const { request, subscriptionId } = await webhookRequest(call);
  const lanes = [
    ["webhook in → committed, 1 connection", 1],
    // A node processes at most 32 callbacks at a time.
    ["webhook in → committed, 32 connections", 32],
  ];
  const results = lanes.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [at, [, connections]] of lanes.entries()) {
      results[at].push(await loaded(port, connections, seconds, request));
    }
  }
  const { total } = await call("GET", `/api/v2/connector/trigger-events?subscription_id=${subscriptionId}&limit=1`);
  if (total === 0) throw new Error("no event was committed");
  return lanes.map(([name], at) => ({ name, ...median(results[at]) }));
}

/** Searches a catalogue with many actions. */
async function measureSearch(call, port, seconds) {
  const words = ["invoice", "contact", "ticket", "message", "file", "event", "order", "payment", "issue", "user"];
  for (let nth = 0; nth < catalogueEntries / actionsPerManifest; nth++) {
    const actions = Object.fromEntries(
      Array.from({ length: actionsPerManifest }, (_, at) => [
        `${words[at % words.length]}.do_${at}`,
        {
          title: `Do ${at} with the ${words[at % words.length]} of ${nth}`,
          mutation: { effect: "read" },
          request: { method: "GET", path: `/${at}` },
        },
      ]),
    );
    const document = {
      ...{ manifest: 1, key: `bench-${nth}`, version: "1.0.0", name: `Bench ${nth}`, category: "generic" },
      ...{ description: "For measuring.", docs_url: "https://example.com", hosts: ["api.example.com"] },
      ...{ base_url: "https://api.example.com", auth: { none: {} }, actions },
    };
    await call("POST", "/api/v2/connector/manifests", { document });
  }
  const results = [];
  for (const query of ["invoice", "do_17", "nothing like it"]) {
    const path = `/api/v2/connector/actions?query=${encodeURIComponent(query)}&limit=50`;
    results.push({ name: query, ...(await loaded(port, 1, seconds, { method: "GET", path, headers: authorized })) });
  }
  return results;
}

function median(results) {
  const sorted = results.toSorted((a, b) => a.perSecond - b.perSecond);
  return { ...sorted[sorted.length >> 1], errors: results.reduce((sum, each) => sum + each.errors, 0) };
}

const columns = [
  ["", (row) => row.name],
  ["req/s", (row) => show.whole(row.perSecond)],
  ["p50 ms", (row) => show.ms(row.p50Ms)],
  ["p99 ms", (row) => show.ms(row.p99Ms)],
  ["errors", (row) => String(row.errors)],
];

function print({ overhead, opening, calls, webhooks, compile, search }) {
  console.log(
    `\nOne action in process: ${show.ms(overhead.actionMs)} ms p50; the bare guarded request ` +
      `${show.ms(overhead.bareMs)} ms; overhead ${overhead.overheadUs.toFixed(0)} µs`,
  );
  console.log(`Opening warm credentials: ${opening.p50Us.toFixed(1)} µs p50, ${opening.p99Us.toFixed(1)} µs p99`);
  console.log(
    `Compiling ${compile.manifests} manifests: ${show.ms(compile.coldMs)} ms in a new process, ${show.ms(compile.warmMs)} ms ` +
      `later (${show.ms(compile.warmCpuMs)} ms of CPU time)`,
  );
  printTable("Durable executions over HTTP", columns, calls);
  printTable("Webhooks", columns, webhooks);
  printTable(`Search in ${show.whole(catalogueEntries)} actions`, columns, search);
}
