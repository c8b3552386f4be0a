import { setTimeout as delay } from "node:timers/promises";
import type { LeasedItem, PoolConfigInput, WorkResult } from "../../../../clients/typescript/src/index.ts";
import type { TimedAnswer, Workload, WorkloadContext } from "../workload.ts";

/** How a pool limits its workers, and how hard it is worked. */
export interface QueueLoad {
  readonly name: string;
  readonly producers: number;
  readonly workers: number;
  /** The most items that wait or are worked on. */
  readonly openMax: number;
  /** The recipients of the pool, and how many items each may hold. */
  readonly recipients?: { readonly count: number; readonly capacity: number };
  /** The groups of items, and how many of a group may be leased at the same time. */
  readonly groups?: { readonly count: number; readonly limit: number };
}

const leaseS = 5;
/** The lease is surely still held so long before its end. */
const marginMs = 1000;
const batchSize = 50;
const settleMs = 90_000;

/** A leased item, and the time in which its worker surely held it. */
interface HeldItem extends LeasedItem {
  readonly heldFromMs: number;
  readonly heldToMs: number;
}

/** Routes items alone and in batches, and has workers lease, complete, fail and forget them. */
export function createQueueWorkload(load: QueueLoad): (context: WorkloadContext) => Promise<Workload> {
  return async (context) => {
    const { history, random, loading, over, call } = context;
    const { name, recipients, groups } = load;
    const config: PoolConfigInput = {
      lease: { duration_s: leaseS },
      retry: { max_attempts: 100, initial_ms: 50, max_ms: 500 },
      ...(groups && { admission: { concurrency: { key: "item.attributes.group", limit: groups.limit } } }),
    };
    const key = `pool ${name}`;
    const strategy = recipients === undefined ? "first_accept" : "round_robin";
    const { value: pool } = await call(
      (client, options) => client.pools.create({ name, strategy, config }, options),
      key,
    );
    const pool_id = pool.id;
    context.records.push({ kind: "pool", id: pool_id }, { kind: "queue", id: pool_id });
    if (recipients !== undefined) {
      const { count, capacity } = recipients;
      const list = Array.from({ length: count }, (_, number) => ({ name: `recipient ${number}`, capacity }));
      await call(
        (client, options) => client.recipients.batchCreate({ pool_id, recipients: list }, options),
        `${key} all`,
      );
    }

    /** The keys of routed items that are not completed. */
    const open = new Set<string>();
    const routed = new Map<string, string>();
    const completed = new Set<string>();
    /** Items that a worker has leased and forgotten, by key. */
    const forgotten = new Map<string, HeldItem>();
    const settled = new AbortController();
    over.addEventListener("abort", () => settled.abort());
    let routes = 0;

    const subjectOf = (itemKey: string) => `${context.tenant.name}/${itemKey}`;
    const newItem = () => {
      const itemKey = `${name}-${++routes}`;
      const attributes = groups && { group: `group ${Math.floor(random() * groups.count)}` };
      return { pool_id, type: "proof", key: itemKey, ...(attributes && { attributes }), payload: { item: itemKey } };
    };

    function recordRoute(
      itemKey: string,
      item: string,
      { startMs, endMs, node }: Pick<TimedAnswer<unknown>, "startMs" | "endMs" | "node">,
    ) {
      routed.set(itemKey, item);
      // A worker may have been faster than the answer.
      if (!completed.has(itemKey)) open.add(itemKey);
      history.record({
        ...{ kind: "acknowledged", name: "route", subject: subjectOf(itemKey) },
        ...{ startMs, endMs, node, facts: { item } },
      });
    }

    async function route(): Promise<void> {
      const item = newItem();
      const answer = await call((client, options) => client.routing.route(item, options), `route ${item.key}`);
      recordRoute(item.key, answer.value.queue_item_id, answer);
    }

    async function routeBatch(): Promise<void> {
      const items = Array.from({ length: batchSize }, newItem);
      const answer = await call(
        (client, options) => client.routing.routeBatch({ items }, options),
        `batch ${items[0]!.key}`,
      );
      for (const [at, { decision, error_code }] of answer.value.results.entries()) {
        if (decision === undefined) throw new Error(`An item of a batch was refused: ${error_code}`);
        recordRoute(items[at]!.key, decision.queue_item_id, answer);
      }
    }

    async function produce(): Promise<void> {
      while (!loading.aborted) {
        if (open.size >= load.openMax) await delay(20);
        else await (random() < 0.5 ? routeBatch() : route());
      }
    }

    async function work(): Promise<void> {
      while (!settled.signal.aborted) {
        const request = { pool_id, max_items: 1 + Math.floor(random() * batchSize), wait_s: 1 };
        const { value, startMs, endMs } = await call((client, options) => client.work.leaseItems(request, options));
        const held = value.items.map((item): HeldItem => {
          const endsInMs = Date.parse(item.lease_expires_at!) - Date.now();
          return {
            ...item,
            heldFromMs: endMs,
            heldToMs: Math.min(startMs + leaseS * 1000, endMs + endsInMs) - marginMs,
          };
        });
        if (held.length === 0) continue;
        await delay(random() * 60);
        const shares = { forgotten: [] as HeldItem[], failed: [] as HeldItem[], done: [] as HeldItem[] };
        for (const item of held) {
          const draw = loading.aborted ? 1 : random();
          shares[draw < 0.03 ? "forgotten" : draw < 0.08 ? "failed" : "done"].push(item);
        }
        await reportLate(held);
        for (const item of shares.forgotten) {
          recordHold(item, item.heldToMs);
          forgotten.set(item.key, { ...item, heldToMs: 0 });
        }
        if (shares.failed.length > 0) await report("fail", shares.failed);
        const [alone, ...together] = shares.done;
        if (alone !== undefined) await report("complete", [alone]);
        if (together.length > 0) await report("complete", together);
      }
    }

    /** Reports items under the leases that other workers have forgotten, while this one holds them. */
    async function reportLate(held: readonly HeldItem[]): Promise<void> {
      const late = held.flatMap(({ key: itemKey }) => forgotten.get(itemKey) ?? []);
      for (const { key: itemKey } of late) forgotten.delete(itemKey);
      if (late.length > 0) await report("complete", late);
    }

    async function report(verb: "complete" | "fail", items: readonly HeldItem[]): Promise<void> {
      const startMs = history.now();
      const refs = items.map(({ queue_item_id, lease_token }) => ({ queue_item_id, lease_token }));
      // A report may be repeated with or without a key: its lease tokens identify it as well.
      const reportKey = random() < 0.5 ? `${verb} ${refs[0]!.lease_token}` : null;
      const answer = await call(async (client, options): Promise<readonly WorkResult[]> => {
        if (verb === "fail")
          return (await client.work.failItems({ pool_id, items: refs, reason_code: "proof" }, options)).results;
        return (await client.work.completeItems({ pool_id, items: refs }, options)).results;
      }, reportKey);
      for (const [at, { state, error_code }] of answer.value.entries()) {
        const item = items[at]!;
        if (item.heldToMs > startMs) recordHold(item, startMs);
        const isAccepted = error_code === "";
        history.record({
          kind: isAccepted ? "acknowledged" : "refused",
          ...{ name: verb, subject: subjectOf(item.key), startMs, endMs: answer.endMs, node: answer.node },
          facts: { attempt: item.attempt, ...(isAccepted ? { state } : { error: error_code }) },
        });
        if (!isAccepted || state !== "completed") continue;
        completed.add(item.key);
        open.delete(item.key);
      }
    }

    function recordHold(
      { key: itemKey, attempt, recipient_id, attributes, heldFromMs }: HeldItem,
      endMs: number,
    ): void {
      if (endMs <= heldFromMs) return;
      history.record({
        ...{ kind: "held", name: "lease", subject: subjectOf(itemKey), startMs: heldFromMs, endMs },
        facts: {
          attempt,
          ...(recipients && { recipient: recipient_id, capacity: recipients.capacity }),
          ...(groups && { group: `${pool_id}/${attributes?.group}`, limit: groups.limit }),
        },
      });
    }

    const working = Promise.all(Array.from({ length: load.workers }, work));
    // A failure is reported when the workload settles.
    working.catch(() => settled.abort());
    return {
      async load() {
        await Promise.all(Array.from({ length: load.producers }, produce));
      },
      async settle() {
        const untilMs = history.now() + settleMs;
        while (open.size > 0 && !settled.signal.aborted && history.now() < untilMs) await delay(50);
        settled.abort();
        await working;
        await observeItems();
      },
    };

    /** Records the state of every item of the pool, and that what is not there is absent. */
    async function observeItems(): Promise<void> {
      const { value: items } = await call((client) =>
        client.queues.listItems({ pool_id, limit: 1000 }).take(1_000_000),
      );
      const nowMs = history.now();
      const observe = (itemKey: string, item: string, state: string) =>
        history.record({
          ...{ kind: "observed", name: "item", subject: subjectOf(itemKey), startMs: nowMs, endMs: nowMs },
          facts: { item, state },
        });
      const seen = new Set<string>();
      for (const { id, key: itemKey, state } of items) {
        seen.add(id);
        observe(itemKey, id, state);
      }
      for (const [itemKey, item] of routed) if (!seen.has(item)) observe(itemKey, item, "absent");
    }
  };
}
