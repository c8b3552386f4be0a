import type { CaseContext, Json, SuiteSource } from "../sandbox/index.ts";
import { queueControlCases } from "./queue-control.ts";
import {
  completeItem,
  createPool,
  failItem,
  leaseAll,
  leaseOne,
  listDeadLetters,
  readItem,
  routeItems,
} from "./steps/pool-steps.ts";
import { createTwice } from "./steps/repeat-steps.ts";

const hourMs = 3_600_000;
/** Retries follow at once. */
const quickRetry = { initial_ms: 1, max_ms: 1, jitter: 0 };

/** Leases an item twice: the first attempt fails, the second is in progress. */
async function leaseTwice(context: CaseContext): Promise<{ poolId: string; first: Json; second: Json }> {
  const poolId = await createPool(context, { retry: quickRetry });
  await routeItems(context, poolId, 1);
  const first = await leaseOne(context, poolId);
  await failItem(context, first, { reason_code: "conformance" });
  return { poolId, first, second: await leaseOne(context, poolId) };
}

const tokenOf = ({ lease_token }: Json) => ({ lease_token });
const pathOf = ({ pool_id, queue_item_id }: Json, verb: string) =>
  `/api/queues/${pool_id}/items/${queue_item_id}/${verb}`;

/** Cases about the protocol by which workers lease items and report results. */
export const workerProtocolSuite: SuiteSource = {
  id: "worker-protocol",
  name: "Worker protocol",
  description: "How workers lease items of queues, extend leases and report results.",
  version: 5,
  defaults: { capabilities: ["queues"], dryRun: false },
  cases: {
    "worker.lease-exclusive": {
      guarantee: "An item is leased to one worker at a time, however many workers ask for it.",
      async run(context) {
        const poolId = await createPool(context, {});
        const routed = await routeItems(context, poolId, 8);
        const leased = await leaseAll(context, poolId, routed.length, 4);
        const ids = leased.map(({ queue_item_id }) => queue_item_id as string);
        context.expect("number of leases", ids.length, routed.length);
        context.expect("number of leased items", new Set(ids).size, routed.length);
      },
    },
    "worker.heartbeat-extends": {
      guarantee: "A heartbeat extends the lease of an item.",
      async run(context) {
        const poolId = await createPool(context, {});
        await routeItems(context, poolId, 1);
        const leased = await leaseOne(context, poolId, { lease_s: 60 });
        const lease = await context.data("POST", pathOf(leased, "heartbeat"), { ...tokenOf(leased), lease_s: 600 });
        const extendedMs = Date.parse(lease.lease_expires_at) - Date.parse(leased.lease_expires_at);
        context.expect("the lease ends later", extendedMs > 0, true);
        const stolen = await context.send("POST", pathOf(leased, "heartbeat"), { body: { lease_token: "unknown" } });
        context.expect("heartbeat with another token", stolen.code, "LEASE_LOST");
      },
    },
    "worker.stale-token-refused": {
      guarantee: "A worker whose lease has ended cannot report a result any more.",
      async run(context) {
        const { poolId, first, second } = await leaseTwice(context);
        const stale = await context.send("POST", pathOf(first, "complete"), { body: tokenOf(first) });
        context.expect("completion with the old token", stale.code, "LEASE_LOST");
        const { state } = await readItem(context, poolId, second.queue_item_id);
        context.expect("state after the refused report", state, "leased");
        const { state: after } = await completeItem(context, second);
        context.expect("completion with the current token", after, "completed");
      },
    },
    "worker.complete-once": {
      guarantee: "A completion takes effect once; repeating it returns the same result.",
      async run(context) {
        const poolId = await createPool(context, {});
        await routeItems(context, poolId, 1);
        const leased = await leaseOne(context, poolId);
        const results = await Promise.all([1, 2, 3].map(() => completeItem(context, leased)));
        const areEqual = results.every(({ state }) => state === "completed");
        context.expect("all reports agree", areEqual, true);
        const { throughput_today: counted } = await context.data("GET", `/api/queues/${poolId}/status`);
        context.expect("completions that are counted", counted, 1);
        const failed = await context.send("POST", pathOf(leased, "fail"), { body: tokenOf(leased) });
        context.expect("failure after the completion", failed.code, "LEASE_LOST");
      },
    },
    "worker.retry-ceiling": {
      guarantee: "A failing item is attempted as often as its pool allows, and not once more.",
      async run(context) {
        const poolId = await createPool(context, { retry: { ...quickRetry, max_attempts: 2 } });
        await routeItems(context, poolId, 1);
        const first = await leaseOne(context, poolId);
        context.expect("state after the first failure", (await failItem(context, first)).state, "pending");
        const second = await leaseOne(context, poolId);
        context.expect("number of the last attempt", second.attempt, 2);
        context.expect("state after the last failure", (await failItem(context, second)).state, "dead_lettered");
        context.expect("items left to lease", (await leaseAll(context, poolId, 0)).length, 0);
      },
    },
    "worker.dead-letter": {
      guarantee: "An item that cannot succeed becomes a dead letter, and a retry brings it back.",
      async run(context) {
        const poolId = await createPool(context, {});
        const [itemId] = await routeItems(context, poolId, 1);
        const leased = await leaseOne(context, poolId);
        await failItem(context, leased, { retryable: false, reason_code: "conformance" });
        const [letter] = await listDeadLetters(context, poolId);
        context.expect("the dead letter is the item", letter?.queue_item_id === itemId, true);
        context.expect("its reason", letter?.reason_code ?? "", "conformance");
        await context.data("POST", `/api/dlq/${poolId}/retry`, { queue_item_ids: [itemId] });
        const { state } = await completeItem(context, await leaseOne(context, poolId));
        context.expect("state after the retry", state, "completed");
        context.expect("dead letters left", (await listDeadLetters(context, poolId)).length, 0);
      },
    },
    "worker.not-before": {
      guarantee: "An item is not leased before its time, and does not hold back others.",
      async run(context) {
        const poolId = await createPool(context, {});
        const not_before = new Date(Date.now() + hourMs).toISOString();
        await context.data("POST", "/api/route", { pool_id: poolId, type: "task", key: "later", not_before });
        const [due] = await routeItems(context, poolId, 1);
        const leased = await leaseAll(context, poolId, 1);
        context.expect("items that are leased", leased.length, 1);
        context.expect("it is the one that is due", leased[0]?.queue_item_id === due, true);
      },
    },
    "worker.repeated-create": {
      guarantee: "A pool that is created again with its idempotency key is the same pool.",
      capabilities: ["pools"],
      async run(context) {
        const [pool, other] = [{ name: context.name() }, { name: context.name("other") }];
        await createTwice(context, "/api/pools", pool, other, (data) => data?.id);
      },
    },
    ...queueControlCases,
  },
};
