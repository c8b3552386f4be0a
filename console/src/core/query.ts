import type { List, Page } from "@client/transport/list";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { isPaused, onEvents } from "./live";

/** State of data that a page reads. */
export interface Query<Data> {
  readonly data: Data | undefined;
  readonly error: Error | undefined;
  readonly isLoading: boolean;
  refresh(): void;
}

/** When data is read again. */
export interface Freshness {
  /** Prefixes of the event types that change the data. */
  readonly live?: readonly string[];
  /** The interval for data without events. */
  readonly everyMs?: number;
}

const cache = new Map<string, unknown>();
const cacheMax = 200;
/** Many events in a short time cause one request. */
const liveDelayMs = 800;

function remember(key: string, value: unknown): void {
  cache.delete(key);
  cache.set(key, value);
  if (cache.size > cacheMax) cache.delete(cache.keys().next().value!);
}

/** Reads data and keeps it fresh. Without a key nothing is read. Data of an earlier visit is shown until the new data is there. */
export function useQuery<Data>(
  key: string | undefined,
  read: () => Promise<Data>,
  freshness: Freshness = {},
): Query<Data> {
  const [state, setState] = useState<{ key?: string; data?: Data; error?: Error; isLoading: boolean }>({
    isLoading: key !== undefined,
  });
  const current = useRef({ key, read });
  current.current = { key, read };
  /** The number of the newest read, and of the newest one that was answered. */
  const reads = useRef({ sent: 0, answered: 0 });

  const refresh = useCallback(() => {
    const { key: wanted, read: load } = current.current;
    if (wanted === undefined) return;
    const number = ++reads.current.sent;
    load().then(
      (data) => {
        // What an earlier read found must not replace what a later one did.
        if (number < reads.current.answered) return;
        reads.current.answered = number;
        remember(wanted, data);
        if (current.current.key === wanted) setState({ key: wanted, data, isLoading: false });
      },
      (error: Error) => {
        if (current.current.key !== wanted || number < reads.current.answered) return;
        setState((before) => ({ ...(before.key === wanted && before), key: wanted, error, isLoading: false }));
      },
    );
  }, []);

  useEffect(() => {
    if (key === undefined) return;
    setState({ key, data: cache.get(key) as Data | undefined, isLoading: !cache.has(key) });
    refresh();
  }, [key, refresh]);
  useFreshness(key === undefined ? {} : freshness, refresh);

  const isCurrent = state.key === key;
  const cached = key === undefined ? undefined : (cache.get(key) as Data | undefined);
  return {
    data: isCurrent ? state.data : cached,
    error: isCurrent ? state.error : undefined,
    isLoading: isCurrent ? state.isLoading : key !== undefined && cached === undefined,
    refresh,
  };
}

/** Calls a function after events of some types, and at an interval while the page is visible. */
function useFreshness({ live, everyMs }: Freshness, refresh: () => void): void {
  const prefixes = live?.join(" ") ?? "";
  useEffect(() => {
    if (prefixes === "") return;
    const wanted = prefixes.split(" ");
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = onEvents((events) => {
      if (
        isPaused.peek() ||
        timer !== undefined ||
        !events.some(({ type }) => wanted.some((prefix) => type.startsWith(prefix)))
      )
        return;
      timer = setTimeout(() => {
        timer = undefined;
        refresh();
      }, liveDelayMs);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [prefixes, refresh]);
  useEffect(() => {
    if (everyMs === undefined) return;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible" && !isPaused.peek()) refresh();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs, refresh]);
  useEffect(() => {
    if (prefixes === "" && everyMs === undefined) return;
    let wasPaused = false;
    return isPaused.subscribe((paused) => {
      if (wasPaused && !paused) refresh();
      wasPaused = paused;
    });
  }, [prefixes, everyMs, refresh]);
}

/** The number of rows of a list, or at least so many if counting stopped early. */
export interface Total {
  readonly count: number;
  readonly isCapped: boolean;
}

/** A list, of which as many rows are loaded as were looked at. */
export interface ListQuery<Row> {
  readonly rows: readonly Row[];
  readonly error: Error | undefined;
  readonly isLoading: boolean;
  readonly hasMore: boolean;
  /** Whether the service looked through a part of a long list last, and found less than a page. */
  readonly isPart: boolean;
  /** Undefined until the first page was read. */
  readonly total: Total | undefined;
  /** Loads the next rows. */
  more(): Promise<void>;
  refresh(): void;
}

interface ListState<Row> {
  readonly rows: readonly Row[];
  readonly cursor: string;
  readonly isPart: boolean;
  readonly total: Total;
}

const pageSize = 100;
const pageSizeMax = 1000;

/** The position of a page in a list. */
export interface PageRequest {
  readonly limit: number;
  readonly cursor?: string;
}

/** Reads a list page by page. A refresh reloads all loaded rows in one request. */
export function useList<Row>(
  key: string | undefined,
  read: (page: PageRequest) => List<Row>,
  freshness: Freshness = {},
): ListQuery<Row> {
  const loaded = useRef(0);
  const isMoreLoading = useRef(false);
  const [extra, setExtra] = useState<{ key: string | undefined; base: ListState<Row> } & ListState<Row>>();
  // The service looked through a part of the list. A refresh would look through the same part again, and forget what was found after.
  const isSearchedOn = extra !== undefined && extra.key === key && extra.base.rows.length < pageSize;
  const first = useQuery<ListState<Row>>(
    key,
    async () => {
      const limit = Math.min(pageSizeMax, Math.max(pageSize, loaded.current));
      return toState(await read({ limit }).page(), limit);
    },
    // More rows than fit in one request stay as they were loaded.
    loaded.current > pageSizeMax || isSearchedOn ? {} : freshness,
  );
  const isExtended = extra !== undefined && extra.key === key && extra.base === first.data;
  const state = isExtended ? extra : first.data;
  loaded.current = state?.rows.length ?? 0;

  const more = useCallback(async () => {
    if (state === undefined || state.cursor === "" || isMoreLoading.current) return;
    isMoreLoading.current = true;
    const limit = state.rows.length >= pageSizeMax ? pageSizeMax : pageSize;
    try {
      const next = toState(await read({ limit, cursor: state.cursor }).page(), limit);
      setExtra({ ...next, rows: [...state.rows, ...next.rows], key, base: first.data! });
    } catch {
      // The next look at the end of the list tries again.
    } finally {
      isMoreLoading.current = false;
    }
  }, [state, key, read, first.data]);

  return {
    rows: state?.rows ?? [],
    error: first.error,
    isLoading: first.isLoading,
    hasMore: (state?.cursor ?? "") !== "",
    isPart: state?.isPart ?? false,
    total: state?.total,
    more,
    refresh() {
      if (isSearchedOn) setExtra(undefined);
      first.refresh();
    },
  };
}

/** Several lists as one. Their rows are merged by the caller. */
export function mergeLists(lists: readonly ListQuery<unknown>[]): Omit<ListQuery<never>, "rows"> {
  const totals = lists.map(({ total = { count: 0, isCapped: false } }) => total);
  return {
    error: lists.find(({ error }) => error !== undefined)?.error,
    isLoading: lists.some(({ isLoading }) => isLoading),
    hasMore: lists.some(({ hasMore }) => hasMore),
    isPart: lists.some(({ isPart }) => isPart),
    total: {
      count: totals.reduce((sum, { count }) => sum + count, 0),
      isCapped: totals.some(({ isCapped }) => isCapped),
    },
    async more() {
      await Promise.all(lists.map(({ more }) => more()));
    },
    refresh() {
      for (const { refresh } of lists) refresh();
    },
  };
}

function toState<Row>({ items, nextCursor, total, totalCapped }: Page<Row>, limit: number): ListState<Row> {
  const isPart = nextCursor !== "" && items.length < limit;
  return { rows: items, cursor: nextCursor, isPart, total: { count: total, isCapped: totalCapped } };
}
