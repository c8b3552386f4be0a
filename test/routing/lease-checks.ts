import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import type { TestSql } from "../harness/postgres-server.ts";
import type { ResponseData } from "./tenant-fixture.ts";

/** Posts over its own keep-alive connection; rejects when the connection breaks before the response arrives. */
export type Post = (
  node: { readonly baseUrl: string; readonly adminKey: string },
  path: string,
  body: object,
  headers?: Record<string, string>,
  /** Closes the connection. */
  signal?: AbortSignal,
) => Promise<{ readonly status: number; readonly body: ResponseData }>;

/** Opens the connection on first use. */
export function createPost(): Post {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  return async ({ baseUrl, adminKey }, path, body, headers = {}, signal = undefined) => {
    const request = http.request(baseUrl + path, {
      agent,
      ...(signal && { signal }),
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": adminKey, ...headers },
    });
    request.end(JSON.stringify(body));
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    let text = "";
    for await (const chunk of response.setEncoding("utf8")) text += chunk;
    if (!response.complete) throw new Error("The response was truncated");
    return { status: response.statusCode!, body: JSON.parse(text) };
  };
}

/**
 * A time span in which a worker certainly held an item: from the lease response until its own call, or the end of the
 * lease.
 */
export interface Hold {
  readonly itemId: string;
  /** The group whose concurrent holds are limited. */
  readonly group: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Fails when an item was held twice concurrently, or more items of a group than its limit. */
export function checkHolds(holds: readonly Hold[], limit: number): void {
  for (const [itemId, most] of mostAtOnce(holds, ({ itemId }) => itemId)) {
    assert.ok(most <= 1, `${itemId} had ${most} concurrent leases`);
  }
  for (const [group, most] of mostAtOnce(holds, ({ group }) => group)) {
    assert.ok(most <= limit, `${group}: ${most} concurrent leases`);
  }
}

/** The maximum number of overlapping holds, by name. */
function mostAtOnce(holds: readonly Hold[], nameOf: (hold: Hold) => string): ReadonlyMap<string, number> {
  const edges = holds.flatMap((hold) => [
    { name: nameOf(hold), atMs: hold.fromMs, step: 1 },
    { name: nameOf(hold), atMs: hold.untilMs, step: -1 },
  ]);
  // A hold that ends in a millisecond does not overlap with one that starts in it.
  edges.sort((a, b) => a.atMs - b.atMs || a.step - b.step);
  const now = new Map<string, number>();
  const most = new Map<string, number>();
  for (const { name, step } of edges) {
    const count = (now.get(name) ?? 0) + step;
    now.set(name, count);
    most.set(name, Math.max(most.get(name) ?? 0, count));
  }
  return most;
}

/** Fails when more items than a throttle allows passed it in any period. */
export function checkWindows(passedAtMs: readonly number[], limit: number, periodMs: number): void {
  const times = passedAtMs.toSorted((a, b) => a - b);
  for (let at = limit; at < times.length; at++) {
    const tookMs = times[at]! - times[at - limit]!;
    assert.ok(tookMs >= periodMs, `${limit + 1} items in ${tookMs} ms`);
  }
}

/** The number of completions that a pool has counted, on all days: a test may run at midnight. */
export async function countCompleted(sql: TestSql, poolId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select sum(completed)::int as count from queue_daily_counts where pool_id = ${poolId}`;
  return row!.count;
}

/** The time of a call. */
export interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

/**
 * Fails when more items than a throttle allows certainly passed it in some period. A call decides on its items after it has
 * waited for others, so the time at which it arrived is not the one at which they pass.
 */
export function checkSpans(spans: readonly Span[], limit: number, periodMs: number): void {
  for (const { fromMs } of spans) {
    const within = spans.filter((span) => span.fromMs >= fromMs && span.untilMs < fromMs + periodMs);
    assert.ok(within.length <= limit, `${within.length} items in ${periodMs} ms`);
  }
}

/** A pseudo-random generator with a fixed seed. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** Every item of a pool, by id. */
export async function allItems(
  list: (query: string) => Promise<ResponseData>,
): Promise<ReadonlyMap<string, ResponseData>> {
  const items = new Map<string, ResponseData>();
  for (let cursor = ""; ; ) {
    const page = await list(`?limit=1000${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`);
    for (const item of page.data) items.set(item.id, item);
    if (!page.has_more) return items;
    cursor = page.next_cursor;
  }
}

/** Follows an item to the one that finally replaced it. */
export function survivorOf(items: ReadonlyMap<string, ResponseData>, item: ResponseData): ResponseData {
  let last = item;
  for (let steps = 0; last.state === "superseded"; steps++) {
    assert.ok(steps < items.size, "a cycle of survivors");
    const next = items.get(last.survivor_id);
    assert.ok(next !== undefined, `${last.id} names no survivor`);
    last = next;
  }
  return last;
}
