import type { CaseContext, Json } from "../../sandbox/index.ts";

/** Creates a pool and returns its id. Leases outlast the case. */
export async function createPool(context: CaseContext, config: object, suffix = ""): Promise<string> {
  const { id } = await context.data("POST", "/api/pools", {
    name: context.name(suffix),
    config: { lease: { duration_s: 300 }, ...config },
  });
  return id;
}

/** Routes items with the same key, and returns their ids. */
export async function routeItems(context: CaseContext, poolId: string, count: number): Promise<string[]> {
  const items = Array.from({ length: count }, (_, n) => ({ pool_id: poolId, type: "task", key: "k", payload: { n } }));
  const { results } = await context.data("POST", "/api/route:batch", { items });
  return results.map(({ decision }: Json) => decision.queue_item_id);
}

/** Routes one item and returns the decision. */
export function routeItem(context: CaseContext, poolId: string): Promise<Json> {
  return context.data("POST", "/api/route", { pool_id: poolId, type: "task", key: "k" });
}

/** Has workers lease until there are as many items as expected, and then none within a second. */
export async function leaseAll(context: CaseContext, poolId: string, expected: number, workers = 1): Promise<Json[]> {
  const leased: Json[] = [];
  const request = { max_items: expected + 1, wait_s: 1 };
  const lease = () => context.data("POST", `/api/queues/${poolId}/lease`, request);
  const poll = async () => (await Promise.all(Array.from({ length: workers }, lease))).flatMap(({ items }) => items);
  await context.until(poll, (items) => leased.push(...items) >= expected && items.length === 0);
  return leased;
}

/** Leases one item. It waits for an item that is about to be ready. */
export async function leaseOne(context: CaseContext, poolId: string, fields: object = {}): Promise<Json> {
  const lease = () => context.data("POST", `/api/queues/${poolId}/lease`, { wait_s: 5, ...fields });
  const { items } = await context.until(lease, ({ items: found }) => found.length > 0);
  return context.need("an item becomes ready", items[0]);
}

/** Reports that an item is done. */
export function completeItem(context: CaseContext, { pool_id, queue_item_id, lease_token }: Json): Promise<Json> {
  return context.data("POST", `/api/queues/${pool_id}/items/${queue_item_id}/complete`, { lease_token });
}

/** Reports a failed attempt. */
export function failItem(context: CaseContext, leased: Json, fields: object = {}): Promise<Json> {
  const { pool_id, queue_item_id, lease_token } = leased;
  return context.data("POST", `/api/queues/${pool_id}/items/${queue_item_id}/fail`, { lease_token, ...fields });
}

export function readItem(context: CaseContext, poolId: string, itemId: string): Promise<Json> {
  return context.data("GET", `/api/queues/${poolId}/items/${itemId}`);
}

export function listDeadLetters(context: CaseContext, poolId: string): Promise<Json[]> {
  return context.data("GET", `/api/dlq/${poolId}`);
}
