import type { Event } from "@client/gen/event";
import { signal } from "@preact/signals";

/** Whether events arrive. */
export const liveState = signal<"connecting" | "live">("connecting");

/** Whether somebody holds the page still. Its data is read again when they let it go. */
export const isPaused = signal(false);

type Listener = (events: readonly Event[]) => void;

const listeners = new Set<Listener>();
const retryMs = 2_000;
let lastId = "";

/** Calls a function with new events of the tenant, until it is removed. */
export function onEvents(listener: Listener): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

/**
 * Starts the stream of events. All tabs of the browser share one connection, because browsers allow only six per host: the tab
 * with the lock reads the stream and hands the events to the others. When it is closed, the next tab gets the lock and continues
 * after the last event.
 */
export function startLive(tenantId: string): void {
  const channel = new BroadcastChannel(`switchyard-events-${tenantId}`);
  channel.onmessage = ({ data }: MessageEvent<Message>) => receive(data);
  // A tab that was opened later asks whether the stream is already open.
  channel.postMessage({ kind: "hello" } satisfies Message);
  const lead = () =>
    new Promise<never>(() => {
      answerHello = () => channel.postMessage({ kind: "state", state: liveState.peek() } satisfies Message);
      read(tenantId, (message) => {
        channel.postMessage(message);
        receive(message);
      });
    });
  void navigator.locks.request(`switchyard-events-${tenantId}`, lead);
}

type Message =
  | { readonly kind: "events"; readonly events: readonly Event[] }
  | { readonly kind: "state"; readonly state: "connecting" | "live" }
  | { readonly kind: "hello" };

let answerHello: (() => void) | undefined;

function receive(message: Message): void {
  switch (message.kind) {
    case "hello":
      answerHello?.();
      return;
    case "state":
      liveState.value = message.state;
      return;
    case "events":
      liveState.value = "live";
      lastId = message.events.at(-1)?.id ?? lastId;
      for (const listener of listeners) listener(message.events);
  }
}

/** Reads the stream and publishes its events in batches. */
function read(tenantId: string, publish: (message: Message) => void): void {
  let batch: Event[] = [];
  let _timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    _timer = undefined;
    publish({ kind: "events", events: batch });
    batch = [];
  };
  const connect = () => {
    const source = new EventSource(`/api/events/subscribe${lastId === "" ? "" : `?cursor=${lastId}`}`);
    source.onopen = () => publish({ kind: "state", state: "live" });
    source.onmessage = ({ data }) => {
      const event = JSON.parse(data) as Event;
      if (event.tenant_id !== tenantId) return;
      batch.push(event);
      _timer ??= setTimeout(flush, 100);
    };
    // The browser reconnects by itself unless the service refused the request.
    source.onerror = () => {
      publish({ kind: "state", state: "connecting" });
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, retryMs);
    };
  };
  connect();
}
