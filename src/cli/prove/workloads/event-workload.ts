import { setTimeout as delay } from "node:timers/promises";
import type { CreateWorkload } from "../workload.ts";

const publishers = 2;
const type = "proof.published";
/** A follower changes the node so often. */
const followMs = 2000;
const settleMs = 60_000;

/** Has publishers add one event after another to the log, while a follower goes from node to node. */
export const createEventWorkload: CreateWorkload = async (context) => {
  const { tenant, history, random, loading, over, call } = context;
  const { value: first } = await call((client, options) => client.events.publish({ type }, options), "first event");
  const subjectOf = (publisher: string) => `${tenant.name}/${publisher}`;
  const settled = new AbortController();
  over.addEventListener("abort", () => settled.abort());
  /** The number of the newest event that was acknowledged, by publisher. */
  const published = new Map<string, number>();
  const unseen = new Set<string>();
  const seen = new Set<string>();

  async function publish(publisher: string): Promise<void> {
    for (let number = 1; !loading.aborted; number++) {
      const name = `${publisher} ${number}`;
      const event = { type, subject: publisher, data: { number } };
      const { startMs, endMs, node } = await call((client, options) => client.events.publish(event, options), name);
      published.set(publisher, number);
      // The follower may have been faster than the answer.
      if (!seen.has(name)) unseen.add(name);
      history.record({
        ...{ kind: "acknowledged", name: "publish", subject: subjectOf(publisher) },
        ...{ startMs, endMs, node, facts: { number } },
      });
      await delay(random() * 40);
    }
  }

  let cursor = first.id;
  let position = 0;
  async function follow(): Promise<void> {
    while (!settled.signal.aborted) {
      await call(async (client) => {
        const signal = AbortSignal.any([settled.signal, AbortSignal.timeout(followMs)]);
        try {
          for await (const event of client.events.subscribe({ types: [type], cursor }, { signal })) {
            cursor = event.id;
            observe(event.subject, Number(event.data?.number), ++position);
          }
        } catch (error) {
          if (!signal.aborted) throw error;
        }
      });
    }
  }

  function observe(publisher: string, number: number, at: number): void {
    const name = `${publisher} ${number}`;
    seen.add(name);
    unseen.delete(name);
    const nowMs = history.now();
    history.record({
      ...{ kind: "observed", name: "event", subject: subjectOf(publisher), startMs: nowMs, endMs: nowMs },
      facts: { number, position: at },
    });
  }

  const following = follow();
  // A failure is reported when the workload settles.
  following.catch(() => settled.abort());
  return {
    async load() {
      await Promise.all(Array.from({ length: publishers }, (_, at) => publish(`publisher-${at + 1}`)));
    },
    async settle() {
      const untilMs = history.now() + settleMs;
      while (unseen.size > 0 && !settled.signal.aborted && history.now() < untilMs) await delay(50);
      settled.abort();
      await following;
      for (const [publisher, last] of published) {
        for (let number = 1; number <= last; number++) {
          if (!seen.has(`${publisher} ${number}`)) observe(publisher, number, 0);
        }
      }
    },
  };
};
