// npm run bench -- simulation [--items 100000] [--rounds 3]: simulates a candidate on recorded decisions, beside live calls. The wall time
// depends on the rest of the machine, because a simulation runs in slices; the CPU time of the service and its memory do not.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../src/platform/db/database.ts";
import { startEmbedded } from "../../src/platform/db/embedded/embedded.ts";
import { ulidFrom } from "../../src/platform/ids/ulid.ts";
import { callOk } from "../notifications/call.mjs";
import { startService } from "../routing/ours/service.mjs";
import { startCpuTime } from "../scale/cpu-time.mjs";

const recipients = 50;
const rules = 10;
const batchSize = 5000;
const regions = ["eu", "us", "asia"];

export const defaults = { seconds: 0, rounds: 3, items: 100_000 };

export async function bench({ rounds, items }) {
  const dataDir = mkdtempSync(join(tmpdir(), "switchyard-bench-"));
  const database = await startEmbedded({ dataDir });
  const db = openDatabase(database.url, { maxConnections: 2, statementMs: 600_000 });
  const service = await startService({ databaseUrl: database.url, settings: { "server.processes": "1" } });
  const call = (method, path, body) => callOk(service.port, method, path, body);
  try {
    const { pool, version } = await createPool(call);
    await recordItems(db.sql, pool, items);
    const artifacts = [{ kind: "routing", ref: pool.id, version }];
    const { data: candidate } = await call("POST", "/api/promotions/candidates", { artifacts });
    const idleMs = await probe(call, pool.id, new Promise((resolve) => setTimeout(resolve, 2000)));
    const rows = [];
    for (let nth = 1; nth <= rounds; nth++) {
      const cpu = await startCpuTime(async () => [service.pid]);
      const memoryMb = residentMb(service.pid, "VmRSS");
      const startMs = performance.now();
      let wallS = 0;
      const simulated = call("POST", `/api/promotions/candidates/${candidate.id}:simulate`, {
        items_max: items,
      }).finally(() => {
        wallS = (performance.now() - startMs) / 1000;
      });
      const callMs = await probe(call, pool.id, simulated);
      const [target] = (await simulated).data.targets;
      rows.push({
        ...{ items: target.items, changed: target.changed, wallS, cpuS: await cpu(), callMs },
        ...{ memoryMb, peakMb: residentMb(service.pid, "VmHWM") },
      });
      print(rows.at(-1), idleMs);
    }
    return { idleMs, rows };
  } finally {
    await service.stop();
    await db.close();
    await database.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function createPool(call) {
  const { data: pool } = await call("POST", "/api/pools", { name: "simulated", strategy: "weighted_random" });
  await call("POST", `/api/pools/${pool.id}/recipients:batch`, {
    recipients: Array.from({ length: recipients }, (_, nth) => ({
      name: `r${nth}`,
      capacity: 20,
      attributes: { region: regions[nth % 3] },
    })),
  });
  const rule = (nth, action) => ({
    name: `rule-${nth}`,
    condition: `item.attributes.region == '${regions[nth % 3]}' && item.attributes.score > ${nth * 100}`,
    stop_on_match: false,
    action,
  });
  for (let nth = 0; nth < rules; nth++) {
    await call("POST", `/api/pools/${pool.id}/rules`, rule(nth, { type: "set_priority", priority: nth }));
  }
  const prefer = {
    name: "near",
    condition: "recipient.attributes.region == item.attributes.region",
    action: { type: "prefer" },
  };
  const staged = [
    ...Array.from({ length: rules }, (_, nth) => rule(nth, { type: "set_priority", priority: nth })),
    prefer,
  ];
  const { data } = await call("POST", `/api/pools/${pool.id}/versions`, {
    strategy: "least_loaded",
    rule_set: { rules: staged },
  });
  return { pool, version: data.version };
}

/** Records items of the last hour, each of which a recipient had for some seconds. */
async function recordItems(sql, pool, count) {
  const sources = await sql`select id from recipients where pool_id = ${pool.id} order by id`;
  const startMs = Date.now() - 3_600_000;
  for (let from = 0; from < count; from += batchSize) {
    const rows = Array.from({ length: Math.min(batchSize, count - from) }, (_, at) => {
      const nth = from + at;
      const atMs = startMs + Math.floor((nth * 3_500_000) / count);
      return {
        id: ulidFrom(
          atMs,
          Uint8Array.from({ length: 16 }, (_, digit) => Math.floor(nth / 32 ** (15 - digit)) % 32),
        ),
        recipient: sources[(nth * 31) % sources.length].id,
        attributes: JSON.stringify({
          region: regions[nth % 3],
          score: nth % 1000,
          customer: { id: `c${nth}`, tier: nth % 5 },
        }),
        atMs,
        tookMs: 1000 + ((nth * 7919) % 9000),
        seed: (nth * 4_503_599_627_371) % Number.MAX_SAFE_INTEGER,
      };
    });
    const column = (name) => rows.map((row) => row[name]);
    await sql`
      insert into routing_history (tenant_id, id, pool_id, ended_at, type, key, attributes, requirements, payload, decided_priority,
        outcome, decided_for, snapshot_digest, seed, evidence, state, delivery, recipient_id, priority, leased_at, succeeded, latency_ms)
      select ${pool.tenant_id}, id, ${pool.id}, to_timestamp((at_ms + took_ms) / 1000), 'task', id, attributes,
        '{"skills":{},"recipientId":"","excludedRecipientIds":[]}', '{}', 0, 'routed', recipient, '', seed, '{"reason":"chosen","trace":[]}',
        'completed', 'pull', recipient, 0, to_timestamp(at_ms / 1000), true, took_ms
      from unnest(${column("id")}::text[], ${column("recipient")}::text[], ${column("attributes")}::text[],
        ${column("atMs")}::double precision[], ${column("tookMs")}::double precision[], ${column("seed")}::bigint[])
        as item(id, recipient, attributes, at_ms, took_ms, seed)`;
  }
  await sql`analyze routing_history`;
}

/** Dry runs of the routing while something is running; returns the median and the 99th percentile of their times. */
async function probe(call, poolId, running) {
  let isDone = false;
  const end = () => {
    isDone = true;
  };
  running.then(end, end);
  const times = [];
  while (!isDone) {
    const startMs = performance.now();
    await call("POST", "/api/route", {
      pool_id: poolId,
      type: "task",
      attributes: { region: "eu", score: 1 },
      dry_run: true,
    });
    times.push(performance.now() - startMs);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  times.sort((one, other) => one - other);
  return { median: times[Math.floor(times.length / 2)], p99: times[Math.floor(times.length * 0.99)] };
}

function residentMb(pid, name) {
  const line = readFileSync(`/proc/${pid}/status`, "utf8")
    .split("\n")
    .find((each) => each.startsWith(name));
  return Math.round(Number(/\d+/.exec(line)[0]) / 1024);
}

function print({ items, changed, wallS, cpuS, callMs, memoryMb, peakMb }, idleMs) {
  const shown = ({ median, p99 }) => `${median.toFixed(1)} ms (p99 ${p99.toFixed(1)})`;
  console.log(
    `${items} items, ${changed} changed: ${wallS.toFixed(1)} s, ${cpuS.toFixed(1)} s of CPU in the service; memory ${memoryMb} MB before, ` +
      `${peakMb} MB at most; a call takes ${shown(callMs)} meanwhile, ${shown(idleMs)} otherwise`,
  );
}
