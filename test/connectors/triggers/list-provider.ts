import { startReceiver } from "../../../src/platform/egress/testing/receivers.ts";

/** An item of the provider's list. */
export interface ListedItem {
  readonly id: string;
  readonly updated_at: string;
}

/** The answer to a request for a page, if it is not the list. */
export interface OtherAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A provider with a list that tests control: GET /items?since=…&cursor=… */
export async function startListProvider(pageSize = 100) {
  const state = {
    /** The items that the provider shows now, in the order in which it shows them. */
    items: [] as ListedItem[],
    /** Answers instead of the list; undefined for the list. */
    interrupt: undefined as ((page: number) => OtherAnswer | Promise<OtherAnswer | undefined> | undefined) | undefined,
  };
  /** The `since` of every request for a first page, and the number of all requests. */
  const seen = { since: [] as string[], pages: 0, concurrent: 0, concurrentMax: 0 };
  const { port } = await startReceiver(async (request, response) => {
    const url = new URL(request.url!, "http://127.0.0.1");
    const from = Number(url.searchParams.get("cursor") ?? 0);
    const since = url.searchParams.get("since") ?? "";
    if (from === 0) seen.since.push(since);
    seen.pages++;
    seen.concurrentMax = Math.max(seen.concurrentMax, ++seen.concurrent);
    const other = await state.interrupt?.(from / pageSize);
    seen.concurrent--;
    if (other !== undefined) {
      response.writeHead(other.status, { "content-type": "application/json", ...other.headers });
      response.end(JSON.stringify(other.body ?? {}));
      return;
    }
    const matching = state.items.filter(({ updated_at }) => updated_at >= since);
    const next = from + pageSize < matching.length ? String(from + pageSize) : "";
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ items: matching.slice(from, from + pageSize), next }));
  });
  return { port, state, seen };
}

/** The trigger that polls the list. Tests make polls due, so that those of earlier tests do not run by themselves. */
export const itemChanged = {
  title: "Item changed",
  description: "An item changed.",
  kind: "poll",
  input: { type: "object", properties: { folder: { type: "string" } }, additionalProperties: false },
  poll: {
    request: { method: "GET", path: "/items", query: { folder: "{input.folder}" } },
    items: "/items",
    since: { param: "since", format: "rfc3339" },
    lookback_s: 600,
    key: ["/id", "/updated_at"],
    every_s: 86_400,
    paginate: { kind: "cursor", items: "/items", cursor: "/next", param: "cursor" },
  },
  output: { id: "/id", updated_at: "/updated_at", note: "/note" },
};
