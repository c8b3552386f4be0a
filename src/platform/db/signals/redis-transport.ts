import type { Redis } from "ioredis";
import { redisOptions } from "../../redis/redis-options.ts";
import type { SignalTransport } from "./signals.ts";

interface Options {
  /** A `redis://` or `rediss://` URL, or the path of a Unix socket. */
  readonly url: string;
  /** The name under which the nodes of this installation publish. A Redis has one set of channels for all its databases. */
  readonly channel: string;
  /** Called when signals are interrupted, with the reason. */
  readonly onInterrupted: (reason: Error | undefined) => void;
}

/** Nobody waits for a signal. On a busy machine, the commands of a new connection take long, and a timeout would start over. */
const commandTimeoutMs = 2000;
/** The interval at which a connection that receives nothing is checked. */
const checkMs = 10_000;

/** Signals over the publish/subscribe of Redis or Valkey. The client is loaded on demand, because it takes much memory. */
export async function openRedisTransport({ url, channel, onInterrupted }: Options): Promise<SignalTransport> {
  const { Redis } = await import("ioredis");
  const options = { ...redisOptions(500), commandTimeout: commandTimeoutMs, autoResubscribe: false, lazyConnect: true };
  const open = () => new Redis(url, options);
  let publisher: Redis | undefined;
  return {
    send: async (payload) => publisher?.publish(channel, payload),
    async listen(onPayload, onListen) {
      publisher = open();
      // Both lose their connection together; the subscriber reports it.
      publisher.on("error", () => {});
      publisher.connect().catch(() => {});
      const subscriber = open();
      const unsubscribe = await subscribe(subscriber, { channel, onPayload, onListen, onInterrupted });
      return {
        async unlisten() {
          unsubscribe();
          publisher!.disconnect();
        },
      };
    },
  };
}

interface Subscription extends Pick<Options, "channel" | "onInterrupted"> {
  readonly onPayload: (payload: string) => void;
  readonly onListen: () => void;
}

/** Subscribes, and again after each reconnect. Resolves after the first attempt: signals are hints, so no start waits for Redis. */
async function subscribe(subscriber: Redis, { channel, onPayload, onListen, onInterrupted }: Subscription) {
  const tried = Promise.withResolvers<void>();
  let reason: Error | undefined;
  let isSubscribed = true;
  let isOver = false;
  // A repeated subscription has no effect and shows whether Redis responds: the client closes a connection that does not.
  const renew = () => subscriber.subscribe(channel);
  const timer = setInterval(() => renew().catch(() => {}), checkMs).unref();
  subscriber.on("message", (_, payload) => onPayload(payload));
  subscriber.on("error", (error) => {
    reason = error;
  });
  subscriber.on("close", () => {
    if (isSubscribed && !isOver) onInterrupted(reason);
    isSubscribed = false;
    tried.resolve();
  });
  subscriber.on("ready", () => {
    renew().then(
      () => {
        isSubscribed = true;
        onListen();
        tried.resolve();
      },
      () => subscriber.disconnect(true),
    );
  });
  subscriber.connect().catch(() => {});
  await tried.promise;
  return () => {
    isOver = true;
    clearInterval(timer);
    subscriber.disconnect();
  };
}
