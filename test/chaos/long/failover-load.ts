import { setTimeout as delay } from "node:timers/promises";
import { createPost, type Post } from "../../routing/lease-checks.ts";
import { type ResponseData, tenantAt } from "../../routing/tenant-fixture.ts";

/** A node that serves. */
export interface LoadedNode {
  readonly baseUrl: string;
  readonly adminKey: string;
}

/** The errors that callers got, by what the responses say. */
export interface ErrorCounts {
  readonly retryable: number;
  /** Errors that a caller must not repeat, and calls without a response. */
  readonly others: readonly string[];
}

/** What an account of all acknowledgements found wrong. */
export interface Account {
  readonly acknowledged: number;
  /** Acknowledged items that do not exist, and items that are not completed although that was acknowledged. */
  readonly lost: readonly string[];
  /** Items that exist twice, were handed to two workers, or were completed twice. */
  readonly doubled: readonly string[];
}

/** Callers that route single items and batches, lease items and complete them, and repeat what was not acknowledged. */
export interface FailoverLoad {
  /** The number of acknowledged calls so far. */
  readonly acknowledged: number;
  readonly errors: ErrorCounts;
  /** The number of acknowledged writes that were sent since this moment, by `performance.now()`. */
  sentSince(atMs: number): number;
  /** The longest time since this moment in which no write was acknowledged. */
  longestGapMs(sinceMs: number): number;
  /** Ends the callers. */
  stop(): void;
  /** Ends the callers and compares what was acknowledged with what a node has. */
  end(): Promise<Account>;
}

const singleCallers = 6;
const batchCallers = 2;
const batchSize = 10;
const workers = 3;
/** A caller that got an error repeats its call after this time. */
const retryMs = 100;
/** Longer than the test, so that no item is leased twice. */
const leaseS = 43_200;

interface Acknowledgement {
  readonly sentAtMs: number;
  readonly atMs: number;
}

export async function startFailoverLoad(nodes: readonly LoadedNode[]): Promise<FailoverLoad> {
  const own = tenantAt(nodes[0]!, { id: "", key: nodes[0]!.adminKey });
  const pool = await own.pool();
  const acknowledgements: Acknowledgement[] = [];
  const errors = { retryable: 0, others: [] as string[] };
  /** The ids of acknowledged items, and when they were acknowledged, by their keys. */
  const routed = new Map<string, { readonly id: string; readonly at: string }>();
  /** When items were leased. */
  const leased = new Map<string, string>();
  const completed = new Map<string, number>();
  const doubled: string[] = [];
  let calls = 0;
  let isOver = false;

  /** Repeats a call, on all nodes in turn, until it is acknowledged; undefined when the load ends before. */
  async function untilAcknowledged(post: Post, path: string, body: object): Promise<ResponseData | undefined> {
    const key = `call-${++calls}`;
    for (let nth = calls; !isOver; nth++) {
      const sentAtMs = performance.now();
      const answer = await post(nodes[nth % nodes.length]!, path, body, { "idempotency-key": key }).catch(String);
      if (typeof answer !== "string" && answer.status === 200) {
        acknowledgements.push({ sentAtMs, atMs: performance.now() });
        return answer.body.data;
      }
      if (typeof answer !== "string" && answer.body.retryable === true) errors.retryable++;
      else errors.others.push(typeof answer === "string" ? answer : `${path}: ${JSON.stringify(answer.body)}`);
      await delay(retryMs);
    }
    return undefined;
  }

  async function routeSingle(): Promise<void> {
    const post = createPost();
    for (let nth = 0; !isOver; nth++) {
      const key = `single-${calls}-${nth}`;
      const decision = await untilAcknowledged(post, "/api/route", { pool_id: pool, type: "job", key });
      if (decision !== undefined) routed.set(key, { id: decision.decision_id, at: timeNow() });
    }
  }

  async function routeBatch(): Promise<void> {
    const post = createPost();
    for (let nth = 0; !isOver; nth++) {
      const keys = Array.from({ length: batchSize }, (_, at) => `batch-${calls}-${nth}-${at}`);
      const items = keys.map((key) => ({ pool_id: pool, type: "job", key }));
      const data = await untilAcknowledged(post, "/api/route:batch", { items });
      for (const [at, { decision, error_code }] of (data?.results ?? []).entries()) {
        if (error_code === "") routed.set(keys[at]!, { id: decision.decision_id, at: timeNow() });
        else errors.others.push(`/api/route:batch: ${error_code}`);
      }
    }
  }

  async function work(): Promise<void> {
    const post = createPost();
    while (!isOver) {
      const lease = { max_items: batchSize, lease_s: leaseS, wait_s: 1 };
      const data = await untilAcknowledged(post, `/api/queues/${pool}/lease`, lease);
      const items: ResponseData[] = data?.items ?? [];
      for (const { queue_item_id: id } of items) {
        const before = leased.get(id);
        if (before !== undefined) doubled.push(`${id} was leased at ${before} and at ${timeNow()}`);
        leased.set(id, timeNow());
      }
      if (items.length === 0) continue;
      const refs = items.map(({ queue_item_id, lease_token }) => ({ queue_item_id, lease_token }));
      const told = await untilAcknowledged(post, `/api/queues/${pool}/items:complete`, { items: refs });
      for (const [at, { error_code }] of (told?.results ?? []).entries()) {
        const id = refs[at]!.queue_item_id;
        if (error_code === "") completed.set(id, (completed.get(id) ?? 0) + 1);
        else errors.others.push(`items:complete: ${error_code}`);
      }
    }
  }

  const callers = [
    ...Array.from({ length: singleCallers }, routeSingle),
    ...Array.from({ length: batchCallers }, routeBatch),
    ...Array.from({ length: workers }, work),
  ];

  async function account(): Promise<Account> {
    const idsOfKeys = new Map<string, string[]>();
    await readAll(`/api/decisions?pool_id=${pool}`, ({ key, decision_id }) => {
      idsOfKeys.set(key, [...(idsOfKeys.get(key) ?? []), decision_id]);
    });
    const states = new Map<string, string>();
    await readAll(`/api/queues/${pool}/items?`, ({ queue_item_id, state }) => states.set(queue_item_id, state));
    const lost = [...routed]
      .filter(([key, { id }]) => !idsOfKeys.get(key)?.includes(id))
      .map(([key, { id, at }]) => `${key} (${id}), acknowledged at ${at}`);
    for (const id of completed.keys()) {
      const state = states.get(id) ?? "completed";
      if (state !== "completed") lost.push(`${id} was completed and is ${state}`);
    }
    for (const [key, ids] of idsOfKeys) if (ids.length > 1) doubled.push(`${key} exists as ${ids}`);
    for (const [id, times] of completed) if (times > 1) doubled.push(`${id} was completed ${times} times`);
    return { acknowledged: routed.size + completed.size, lost, doubled };
  }

  async function readAll(path: string, use: (row: ResponseData) => void): Promise<void> {
    for (let cursor = ""; ; ) {
      const page = await own.ok("GET", `${path}&limit=1000${cursor === "" ? "" : `&cursor=${cursor}`}`);
      for (const row of page.data) use(row);
      cursor = page.next_cursor;
      if (!cursor) return;
    }
  }

  const stop = () => {
    isOver = true;
  };
  return {
    errors,
    stop,
    get acknowledged() {
      return acknowledgements.length;
    },
    sentSince: (atMs) => acknowledgements.filter(({ sentAtMs }) => sentAtMs > atMs).length,
    longestGapMs: (sinceMs) =>
      longestGapMs(
        acknowledgements.map(({ atMs }) => atMs),
        sinceMs,
      ),
    async end() {
      stop();
      await Promise.all(callers);
      return account();
    },
  };
}

/** The longest time between two of these moments, from a moment on. */
export function longestGapMs(times: readonly number[], sinceMs: number): number {
  const later = times.filter((atMs) => atMs > sinceMs);
  return Math.max(...later.map((atMs, nth) => atMs - (later[nth - 1] ?? sinceMs)));
}

/** The time of day, as the logs of servers have it. */
export function timeNow(): string {
  return new Date().toISOString().slice(11, 23);
}
