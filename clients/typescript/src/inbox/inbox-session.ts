import { createInboxService, type InboxMessage } from "../gen/inbox.ts";
import { type Backoff, retryDelayMs, sleep } from "../transport/backoff.ts";
import { isApiError } from "../transport/errors.ts";
import { createTransport } from "../transport/transport.ts";
import { type InboxState, type InboxView, initialState, type Mark, markMessages, placeMessage } from "./inbox-state.ts";
import { createTokenSource, type GetToken } from "./token-source.ts";

/** How an inbox is reached. */
export interface InboxOptions {
  /** The address of the service. Its setting `cors.allowed_origins` must list the origin of the page. */
  readonly baseUrl: string;
  readonly subscriberId: string;
  readonly getToken: GetToken;
  /** The number of messages that are loaded at once; default 20. */
  readonly pageSize?: number;
  /** The waits between attempts to connect; default 1 s, growing to 60 s. */
  readonly backoff?: Backoff;
  /** Replaces `fetch`. */
  readonly fetch?: typeof fetch;
}

/** The inbox of one subscriber, kept up to date. It has no user interface. */
export interface Inbox {
  readonly state: InboxState;
  /** Calls a listener after every change of the state. Returns the function that removes it. */
  subscribe(listener: () => void): () => void;
  /** Loads the messages and follows the inbox until it is stopped. */
  start(): void;
  /** Closes the connection. `start` continues where it was. */
  stop(): void;
  /** Loads the messages of a view. */
  show(view: InboxView): Promise<void>;
  /** Loads older messages. */
  loadMore(): Promise<void>;
  /** Marks messages, or all messages. */
  mark(ids: readonly string[] | "all", mark: Mark): Promise<void>;
}

const defaultBackoff: Backoff = { initialMs: 1_000, maxMs: 60_000 };

/** Creates an inbox. Nothing is sent before it is started. */
export function createInbox(options: InboxOptions): Inbox {
  const { baseUrl, subscriberId: subscriber_id, pageSize = 20, backoff = defaultBackoff } = options;
  const tokens = createTokenSource(options.getToken);
  const service = createInboxService(createTransport({ baseUrl, token: () => tokens.current(), fetch: send }));
  const listeners = new Set<() => void>();
  let state = initialState;
  let running: AbortController | undefined;
  let cursor = "";
  let pageCursor = "";
  let loads = 0;
  /** The messages that arrived during a load, whose response may not contain them; undefined without a load. */
  let arrived: InboxMessage[] | undefined;

  function update(change: Partial<InboxState>): void {
    state = { ...state, ...change };
    for (const listener of listeners) listener();
  }

  /** Sends a request. While a stream is opened, again or for the first time, the inbox is not live. */
  function send(url: string | URL | Request, init?: RequestInit): Promise<Response> {
    if (state.isLive && new Headers(init?.headers).get("accept") === "text/event-stream") update({ isLive: false });
    return (options.fetch ?? fetch)(url, init);
  }

  /** Runs a call. A token that is refused is replaced once, because it may have expired or been revoked. */
  async function withToken<Result>(call: () => Promise<Result>): Promise<Result> {
    try {
      return await call();
    } catch (error) {
      if (!isApiError(error, "UNAUTHENTICATED")) throw error;
      tokens.discard();
      return call();
    }
  }

  function listPage(view: InboxView, from: string) {
    const filter = { unread_only: view === "unread", archived: view === "archived" };
    const page = from === "" ? {} : { cursor: from };
    return withToken(() => service.listMessages({ subscriber_id, limit: pageSize, ...filter, ...page }).page());
  }

  async function loadCounts(): Promise<void> {
    const { unread_count, unseen_count } = await withToken(() => service.countUnreadMessages({ subscriber_id }));
    update({ unreadCount: unread_count, unseenCount: unseen_count });
  }

  /** Loads the first page of the view. A later load wins. */
  async function load(): Promise<void> {
    const number = ++loads;
    const { view } = state;
    arrived = [];
    try {
      const [page] = await Promise.all([listPage(view, ""), loadCounts()]);
      if (number !== loads) return;
      pageCursor = page.nextCursor;
      const loaded: InboxState = { ...state, status: "ready", messages: page.items, hasMore: page.nextCursor !== "" };
      update((arrived ?? []).reduce(placeMessage, loaded));
      arrived = undefined;
    } catch {
      if (number !== loads) return;
      arrived = undefined;
      update({ status: "failed" });
    }
  }

  let isCounting = false;
  let isStale = false;
  /** Loads the counts again after a change. Changes that arrive meanwhile share the next load. */
  async function refreshCounts(): Promise<void> {
    isStale = true;
    if (isCounting) return;
    isCounting = true;
    while (isStale) {
      isStale = false;
      await loadCounts().catch(() => {});
    }
    isCounting = false;
  }

  function receive(message: InboxMessage): void {
    arrived?.push(message);
    update(placeMessage(state, message));
    void refreshCounts();
  }

  /** Follows the inbox until the stream fails for good. */
  async function follow(signal: AbortSignal, onOpen: () => void): Promise<void> {
    // The stream before this one may end later and change the cursor.
    const from = cursor;
    const request = { subscriber_id, changes: true, ...(from !== "" && { cursor: from }) };
    const stream = service.watch(request, {
      signal,
      onResponse({ status }) {
        if (status !== 200) return;
        onOpen();
        // Only now, so that no message falls between the list and the stream.
        if ((stream.lastEventId === "" && from === "") || state.status !== "ready") void load();
      },
    });
    let isReloaded = false;
    try {
      for await (const message of stream) {
        // The service did not know the cursor. What was missed is unknown, so everything is loaded again.
        if (message.snapshot && !isReloaded) void load();
        isReloaded ||= message.snapshot;
        if (!message.snapshot) receive(message);
      }
    } finally {
      cursor = stream.lastEventId || cursor;
    }
  }

  async function run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      const onOpen = () => {
        failures = 0;
        update({ isLive: true });
      };
      await follow(signal, onOpen).catch((error) => {
        if (isApiError(error, "UNAUTHENTICATED")) tokens.discard();
      });
      if (signal.aborted) return;
      update({ isLive: false });
      // Without a stream there is at least a list.
      if (state.status === "loading") void load();
      failures++;
      await sleep(retryDelayMs(backoff, failures, undefined, Math.random()), signal).catch(() => {});
    }
  }

  return {
    get state() {
      return state;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start() {
      if (running !== undefined) return;
      running = new AbortController();
      void run(running.signal);
    },
    stop() {
      running?.abort();
      running = undefined;
      if (state.isLive) update({ isLive: false });
    },
    async show(view) {
      if (view !== state.view) update({ view, messages: [], hasMore: false, status: "loading" });
      await load();
    },
    async loadMore() {
      const number = loads;
      const page = await listPage(state.view, pageCursor);
      if (number !== loads) return;
      pageCursor = page.nextCursor;
      const known = new Set(state.messages.map(({ id }) => id));
      const older = page.items.filter(({ id }) => !known.has(id));
      update({ messages: [...state.messages, ...older], hasMore: page.nextCursor !== "" });
    },
    async mark(ids, mark) {
      if (ids.length === 0) return;
      const message_ids = ids === "all" ? [] : ids;
      const request = { subscriber_id, message_ids, ...mark };
      let response = await withToken(() => service.markMessages(request));
      while (response.has_more) response = await withToken(() => service.markMessages(request));
      const marked = ids === "all" ? undefined : new Set(ids);
      update({
        ...markMessages(state, marked, mark, new Date().toISOString()),
        ...{ unreadCount: response.unread_count, unseenCount: response.unseen_count },
      });
    },
  };
}
