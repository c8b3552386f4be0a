import { restClient } from "../harness/rest.ts";

interface PublishedEvent {
  readonly n: number;
  readonly sentMs: number;
  /** When it was acknowledged. */
  readonly knownMs: number;
}

/** Publishes events until it is stopped, over a few connections. */
export function startEventLoad(baseUrl: string, adminKey: string, writers: number) {
  const rest = restClient(baseUrl, adminKey);
  const published: PublishedEvent[] = [];
  let next = 0;
  let isStopped = false;
  const writer = async () => {
    while (!isStopped) {
      const n = next++;
      const sentMs = Date.now();
      const { status } = await rest.call("POST", "/api/events", { type: "order.paid", data: { n } });
      if (status === 200) published.push({ n, sentMs, knownMs: Date.now() });
    }
  };
  const done = Promise.all(Array.from({ length: writers }, writer));
  return {
    /** How many events were acknowledged so far. */
    count: () => published.length,
    async stop() {
      isStopped = true;
      await done;
    },
    /** The numbers of the events that were acknowledged before a time, and of those that were sent after it. */
    around(timeMs: number) {
      const numbers = (holds: (event: PublishedEvent) => boolean) => published.filter(holds).map(({ n }) => n);
      return {
        before: numbers(({ knownMs }) => knownMs < timeMs),
        after: numbers(({ sentMs }) => sentMs > timeMs),
      };
    },
  };
}
