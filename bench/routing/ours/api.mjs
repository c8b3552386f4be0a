// Every path and message shape of our API that the bench uses.
import { Unavailable } from "../participants.mjs";

/** Setup calls over one connection. */
export function management(connection) {
  return {
    /** A pool whose items are queued until a worker leases them, or only decided with `decision_only`. */
    async createPool({ admission, recipients = 1, rules = 0, mode = "MODE_PULL" } = {}) {
      const name = `bench-${poolsMade++}`;
      const config = { queue: { max_depth: 100_000_000 }, ...(admission && { admission }) };
      const { id } = await post(connection, "/api/pools", { name, strategy: "round_robin", config });
      for (let from = 0; from < recipients; from += 1_000) {
        const size = Math.min(1_000, recipients - from);
        await post(connection, `/api/pools/${id}/recipients:batch`, {
          recipients: Array.from({ length: size }, (_, i) => recipient(from + i, mode)),
        });
      }
      for (let i = 0; i < rules; i++) await post(connection, `/api/pools/${id}/rules`, rule(i, rules));
      return id;
    },
    /** The number of queued or leased items of a pool. */
    async unfinished(id) {
      const path = `/api/queues/${id}/status`;
      const { data } = JSON.parse(succeeded(path, await connection.send("GET", path)));
      return Number(data.depth) + Number(data.in_flight);
    },
    /** Removes the queued items of a pool. */
    async emptyPool(id) {
      let remaining;
      do {
        const drained = await post(connection, `/api/queues/${id}/drain`, { max_items: 100_000 });
        remaining = Number(drained.remaining_depth);
      } while (remaining > 0);
    },
  };
}

let poolsMade = 0;

const recipient = (i, mode) => ({
  name: `recipient-${i}`,
  // No limit: the peers have no capacities, and a limit is checked by every lease.
  capacity: 0,
  attributes: { country: i % 2 === 0 ? "DE" : "FR", floor: i % 40 },
  delivery: { mode },
});

// Only the last rule matches, so that every rule is evaluated.
const rule = (i, count) => ({
  name: `rule-${i}`,
  priority: i,
  condition: `item.attributes.country == '${i === count - 1 ? "DE" : `C${i}`}' && item.attributes.score > 50`,
  action: { type: "set_priority", priority: 5 },
});

/** A configuration of each constraint that every item passes. */
export const admissions = {
  none: undefined,
  singleton: { singleton: { key: "item.attributes.order", mode: "skip" } },
  debounce: { debounce: { key: "item.attributes.order", period_s: 1, max_delay_s: 1 } },
  throttle: { throttle: { key: "item.key", limit: 1_000_000, period_s: 1, burst: 1_000_000 } },
  concurrency: { concurrency: { key: "item.key", limit: 1_000_000, scope: "pool" } },
};

/** Routes one item over REST; `more` holds further header lines. */
export async function route(connection, poolId, item, more) {
  const path = "/api/route";
  succeeded(path, await connection.send("POST", path, JSON.stringify({ pool_id: poolId, ...item }), more));
}

/** Routes one item over Connect. */
export async function routeOverConnect(connection, poolId, item) {
  const path = "/service.api.RoutingService/Route";
  succeeded(path, await connection.send("POST", path, JSON.stringify({ poolId, ...item })));
}

/** Decides on one item without storing anything; returns the response text. */
export async function decide(connection, poolId, item) {
  const path = "/api/route";
  const body = JSON.stringify({ pool_id: poolId, dry_run: true, ...item });
  return succeeded(path, await connection.send("POST", path, body));
}

/** Throws unless a decision selects a recipient by the only matching rule. */
export async function tryDeciding(connection, poolId, item) {
  const { outcome, recipient_id, matched_rule_ids } = JSON.parse(await decide(connection, poolId, item)).data;
  if (outcome !== "routed" || recipient_id === "" || matched_rule_ids.length !== 1)
    throw new Error(`a decision came out as ${outcome}, with ${matched_rule_ids.length} rules matched`);
}

/** Routes many items in one call; each of them must be accepted. */
export async function routeBatch(connection, poolId, items) {
  const path = "/api/route:batch";
  const body = JSON.stringify({ items: items.map((item) => ({ pool_id: poolId, ...item })) });
  const answer = succeeded(path, await connection.send("POST", path, body));
  // Parsing a thousand decisions to read one number would cost the caller as much as the call.
  const accepted = Number(/"accepted_count":\s*(\d+)/.exec(answer)?.[1]);
  if (accepted !== items.length) throw new Error(`${path} accepted ${accepted} of ${items.length}`);
}

/** Completes the items of the previous cycle and leases up to `size` new ones, in one call; returns the new ones. */
export async function completeAndLease(connection, poolId, completed, size) {
  const request = { max_items: size, wait_s: 0, completed };
  const { items, results } = await post(connection, `/api/queues/${poolId}/lease`, request);
  const failed = results.find(({ error_code }) => error_code !== "");
  if (failed !== undefined) throw new Error(`completing an item returned ${failed.error_code}`);
  return items.map(({ queue_item_id, lease_token }) => ({ queue_item_id, lease_token }));
}

async function post(connection, path, body) {
  return JSON.parse(succeeded(path, await connection.send("POST", path, JSON.stringify(body)))).data;
}

function succeeded(path, { status, body }) {
  if (status < 300) return body;
  const text = `${path} answered ${status}: ${body.slice(0, 300)}`;
  // The bench only uses existing records, so a 404 means that this checkout lacks the operation.
  throw status === 404 || status === 501 ? new Unavailable(text) : new Error(text);
}
