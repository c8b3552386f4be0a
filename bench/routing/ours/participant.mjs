// Switchyard, over HTTP with a key and the whole chain: this process is the caller, the service is another process.
import { createClient } from "../../../clients/typescript/src/index.ts";
import { connection } from "../http-connection.mjs";
import { nextItem, nextItems } from "../item.mjs";
import { inBatches, lanes } from "../lanes.mjs";
import { drainInLoops, pause } from "../pacing.mjs";
import {
  admissions,
  completeAndLease,
  decide,
  management,
  route,
  routeBatch,
  routeOverConnect,
  tryDeciding,
} from "./api.mjs";
import { authorized, startService } from "./service.mjs";

export async function open({ nodes: count = 1, ...settings }) {
  const nodes = [];
  const stop = () => Promise.all(nodes.map((node) => node.stop()));
  try {
    // The first node migrates the database.
    while (nodes.length < count) nodes.push(await startService(settings));
    return await participant(nodes, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function participant(nodes, stop) {
  const headers = { headers: authorized };
  const api = management(connection(nodes[0].port, headers));
  const callers = Array.from({ length: lanes.single.callers }, (_, i) =>
    connection(nodes[i % nodes.length].port, headers),
  );
  const clients = nodes.map(({ port }) =>
    createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: authorized["x-api-key"], batching: true }),
  );
  let poolId = await api.createPool();
  const own = () => poolId;
  await tryOnce(callers[0], poolId);

  return {
    accepts: [
      { ...lanes.single, name: "REST", add: (caller) => route(callers[caller], poolId, nextItem()) },
      {
        ...lanes.single,
        name: "REST, Idempotency-Key",
        add: (caller) => route(callers[caller], poolId, nextItem(), nextIdempotencyKey()),
      },
      { ...lanes.single, name: "Connect", add: (caller) => routeOverConnect(callers[caller], poolId, nextItem()) },
      {
        ...lanes.single,
        name: "client that batches",
        add: (caller) => clients[caller % clients.length].routing.route({ pool_id: poolId, ...nextItem() }),
      },
      {
        ...lanes.batch100,
        name: "REST batch",
        add: (caller) => routeBatch(callers[caller], poolId, nextItems(100)),
      },
      {
        ...lanes.batch1000,
        name: "REST batch",
        add: (caller) => routeBatch(callers[caller], poolId, nextItems(1_000)),
      },
    ],
    drains: lanes.workers.flatMap((workers) => [
      drainLane(callers, own, workers, "single", 1),
      drainLane(callers, own, workers, "batched", 100),
      drainLane(callers, own, workers, "batched", 500),
    ]),
    admissions: await admissionLanes(api, callers),
    decides: (shape) => decideLanes(api, callers, shape),
    fill: (count) => fillPool(callers, poolId, count),
    async clear() {
      const before = poolId;
      poolId = await api.createPool();
      await api.emptyPool(before);
    },
    waiting: () => api.unfinished(poolId),
    async close() {
      for (const each of callers) each.close();
      await stop();
    },
  };
}

/**
 * Sends items through everything that is measured, so that a missing feature fails before the run and not during it.
 */
async function tryOnce(connection, poolId) {
  await route(connection, poolId, nextItem());
  await routeBatch(connection, poolId, nextItems(1));
  const leased = await completeAndLease(connection, poolId, [], 2);
  if (leased.length !== 2) throw new Error(`2 items were accepted, but ${leased.length} could be leased`);
  await completeAndLease(connection, poolId, leased, 1);
}

function fillPool(callers, poolId, count) {
  // Four concurrent calls, so that each caller has its response before its next turn.
  let turn = 0;
  return inBatches(count, (size) => routeBatch(callers[turn++ % callers.length], poolId, nextItems(size)));
}

/** Workers with one call per cycle: it completes the items of the previous cycle and leases the next ones. */
function drainLane(callers, pool, workers, batching, size) {
  const drain = (pace) => {
    const held = Array.from({ length: workers }, () => []);
    const take = async (worker) => {
      if (held[worker].length === 0) held[worker] = await completeAndLease(callers[worker], pool(), [], size);
      const done = held[worker];
      if (done.length > 0) held[worker] = await completeAndLease(callers[worker], pool(), done, size);
      return done.length;
    };
    return drainInLoops({ take, workers, ...pace });
  };
  return { form: lanes.drainForm(workers, batching), name: `complete + lease ${size}, one call`, drain };
}

async function admissionLanes(api, callers) {
  const { none, ...each } = admissions;
  const wanted = { none, ...each, "all four": Object.assign({}, ...Object.values(each)) };
  const built = [];
  for (const [constraint, admission] of Object.entries(wanted)) {
    const poolId = await api.createPool({ admission });
    const shared = {
      constraint,
      clear: () => api.emptyPool(poolId),
      async fill(count) {
        await fillPool(callers, poolId, count);
        // A debounced item becomes ready after its period.
        if (admission?.debounce) await pause(admission.debounce.max_delay_s + 1);
      },
    };
    const { drain } = drainLane(callers, () => poolId, 4, "batched", 100);
    built.push(
      { ...lanes.single, ...shared, name: "REST", add: (caller) => route(callers[caller], poolId, nextItem()) },
      {
        ...lanes.batch100,
        ...shared,
        name: "REST batch",
        add: (caller) => routeBatch(callers[caller], poolId, nextItems(100)),
        drain,
      },
    );
  }
  return built;
}

async function decideLanes(api, callers, shape) {
  const built = [];
  for (const recipients of shape.recipients) {
    for (const rules of shape.rules) {
      const poolId = await api.createPool({ recipients, rules, mode: "MODE_DECISION_ONLY" });
      await tryDeciding(callers[0], poolId, nextItem());
      const add = (caller) => decide(callers[caller], poolId, nextItem());
      for (const lane of lanes.deciders) built.push({ ...lane, recipients, rules, name: "dry_run, REST", add });
    }
  }
  return built;
}

let keysMade = 0;
const run = Date.now().toString(36);

function nextIdempotencyKey() {
  return `idempotency-key: ${run}-${keysMade++}\r\n`;
}
