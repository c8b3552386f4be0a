// A hostile tenant next to a normal one: the effect on the normal one, and the event loop delay.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { measureCases } from "../measured-cases.mjs";
import { callOk } from "../notifications/call.mjs";
import { authorized } from "../routing/ours/service.mjs";
import { printTable, show } from "../routing/report.mjs";

const costlyRule = "item.attributes.l.all(a, item.attributes.l.all(b, a + b >= 0)) && recipient.weight < 0";
/** Limits that an operator of several tenants would set; the normal tenant stays far below them. */
const settings = { "ratelimit.tenant_rps": 200, "api.max_concurrent_requests_per_tenant": 64 };
const scenarios = [
  { kind: "bodies", name: "huge bodies" },
  { kind: "secrets", name: "wrong secrets", freshKeys: true },
  { kind: "flood", name: "flood" },
  // Last, because its items stay queued and are decided again and again.
  { kind: "rules", name: "costly rules" },
];
/** The normal tenant calls at a fixed interval, whether or not the previous call has returned. */
const everyMs = 10;
const warmUpMs = 4000;
/** The first use of a key is CPU-intensive, so these calls are less frequent. */
const freshKeyEveryMs = 250;

export async function bench({ seconds }) {
  const measuredMs = Math.min(seconds, 4) * 1000;
  const cases = scenarios.map((scenario) => ({ ...scenario, settings }));
  const rows = await measureCases(cases, async (port, scenario) => ({
    name: scenario.name,
    ...(await measure(port, scenario, measuredMs)),
  }));
  print(rows);
  return { rows, settings };
}

async function measure(port, { kind, freshKeys = false }, measuredMs) {
  const normal = await tenant(port, `normal-${kind}`);
  const hostile = await tenant(port, `hostile-${kind}`);
  const poolId = await pool(port, normal, 1);
  const hostilePool = await pool(port, hostile, 20, kind === "rules" ? costlyRule : undefined);
  const gapMs = freshKeys ? freshKeyEveryMs : everyMs;
  const calls = Math.ceil(measuredMs / gapMs);
  const keys = freshKeys ? await newKeys(port, normal, 2 * calls) : [];
  const keyIds = kind === "secrets" ? (await newKeys(port, hostile, 10)).map((key) => key.slice(0, 34)) : [];
  const body = JSON.stringify({ pool_id: poolId, type: "order", key: "k", payload: { order: 4711 } });
  const round = () => callEvery(port, gapMs, calls, () => (freshKeys ? keys.pop() : normal), body);

  await warmUp(port);
  const quiet = await round();
  await loopDelay(port);
  const attack = await begin({ kind, port, key: hostile, poolId: hostilePool, keyIds });
  await delay(3000);
  const disturbed = await round();
  const lagP999Ms = await loopDelay(port);
  const hostileDid = await attack.end();
  return {
    quiet,
    disturbed,
    ratioP50: disturbed.p50Ms / quiet.p50Ms,
    ratioP99: disturbed.p99Ms / quiet.p99Ms,
    lagP999Ms,
    hostileDid,
  };
}

/** Warms the process up, because its first seconds are slower. */
async function warmUp(port) {
  const untilMs = performance.now() + warmUpMs;
  const others = await Promise.all(Array.from({ length: 8 }, (_, n) => tenant(port, `warm-up-${n}`)));
  await Promise.all(
    others.map(async (key) => {
      const poolId = await pool(port, key, 1);
      const headers = { "content-type": "application/json", "x-api-key": key };
      const body = JSON.stringify({ pool_id: poolId, type: "order", key: "k", payload: { order: 4711 } });
      while (performance.now() < untilMs) {
        await (await fetch(`http://127.0.0.1:${port}/api/route`, { method: "POST", headers, body })).arrayBuffer();
      }
    }),
  );
}

async function tenant(port, name) {
  const { data } = await callOk(port, "POST", "/api/tenants", { name: `${name}-${Date.now()}`, issue_admin_key: true });
  return data.admin_key;
}

async function pool(port, key, recipients, rule) {
  const post = (path, body) => callWith(port, key, path, body);
  const { id } = await post("/api/pools", {
    name: "fairness",
    strategy: "round_robin",
    config: { queue: { max_depth: 100_000_000 } },
  });
  await post(`/api/pools/${id}/recipients:batch`, {
    recipients: Array.from({ length: recipients }, (_, i) => ({
      name: `recipient-${i}`,
      capacity: 1_000_000,
      delivery: { mode: "MODE_PULL" },
    })),
  });
  if (rule !== undefined) {
    await post(`/api/pools/${id}/rules`, {
      name: "costly",
      condition: rule,
      action: { type: "require" },
    });
  }
  return id;
}

async function callWith(port, key, path, body) {
  const headers = { ...authorized, "x-api-key": key };
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (response.status === 200) return JSON.parse(text).data;
    // The setup needs more calls than the rate limit allows in a burst.
    if (response.status !== 429) throw new Error(`${path}: ${text}`);
    await delay(Number(response.headers.get("retry-after")) * 1000);
  }
}

async function newKeys(port, key, count) {
  const keys = [];
  for (let i = 0; i < count; i++) {
    keys.push((await callWith(port, key, "/api/v2/api-keys", { name: `key-${i}`, roles: ["service"] })).secret);
  }
  return keys;
}

/** Calls at a fixed rate; returns the durations. */
async function callEvery(port, gapMs, count, key, body) {
  const latencies = [];
  let failed = 0;
  const calls = [];
  const from = performance.now();
  for (let i = 0; i < count; i++) {
    await delay(Math.max(0, from + i * gapMs - performance.now()));
    const dueAt = from + i * gapMs;
    calls.push(
      fetch(`http://127.0.0.1:${port}/api/route`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": key() },
        body,
      }).then(async (response) => {
        await response.arrayBuffer();
        latencies.push(performance.now() - dueAt);
        if (response.status !== 200) failed++;
      }),
    );
  }
  await Promise.all(calls);
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))];
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: latencies.at(-1), failed };
}

/** The 99.9th percentile of the event loop delay since the last call. */
async function loopDelay(port) {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/nodejs_eventloop_delay_seconds\{quantile="0\.999"\} (\S+)/.exec(text)[1]) * 1000;
}

async function begin(options) {
  const child = spawn(process.execPath, [join(import.meta.dirname, "hostile.mjs"), JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  return {
    async end() {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
      return JSON.parse(text);
    },
  };
}

function print(rows) {
  printTable(
    "A hostile tenant beside a normal one (aims: 2x its quiet p99, event loop 50 ms late at p99.9)",
    [
      ["hostile", (row) => row.name],
      ["quiet p50", (row) => show.ms(row.quiet.p50Ms)],
      ["p99", (row) => show.ms(row.quiet.p99Ms)],
      ["disturbed p50", (row) => show.ms(row.disturbed.p50Ms)],
      ["p99", (row) => show.ms(row.disturbed.p99Ms)],
      ["x p50", (row) => show.ratio(row.ratioP50)],
      ["x p99", (row) => show.ratio(row.ratioP99)],
      ["loop p99.9 ms", (row) => show.ms(row.lagP999Ms)],
      ["failed", (row) => String(row.quiet.failed + row.disturbed.failed)],
      ["hostile sent", (row) => show.whole(row.hostileDid.sent)],
      ["refused", (row) => show.whole(row.hostileDid.refused)],
    ],
    rows,
  );
}
