import type { CallOptions, Operation } from "./operation.ts";
import type { Transport } from "./transport.ts";

export interface Page<Item> {
  readonly items: readonly Item[];
  /** The number of items in the whole list. */
  readonly total: number;
  /** Whether counting stopped early: there are at least `total` items. */
  readonly totalCapped: boolean;
  /** The cursor of the next page; empty on the last page and in lists with page numbers. */
  readonly nextCursor: string;
}

/** A list, read page by page as far as it is used. Iterating over it gives its items. */
export interface List<Item> extends AsyncIterable<Item> {
  /** Reads the page that the request selects. */
  page(): Promise<Page<Item>>;
  /** Iterates over the pages, from the one that the request selects. */
  pages(): AsyncIterableIterator<Page<Item>>;
  /** Reads at most `max` items into an array. */
  take(max: number): Promise<Item[]>;
}

interface CursorBody<Item> {
  readonly data: readonly Item[];
  readonly total: number;
  readonly total_capped: boolean;
  readonly next_cursor: string;
}

interface NumberedBody<Item> {
  readonly data: readonly Item[];
  readonly total: number;
  readonly page: number;
  readonly per_page: number;
}

/** Creates the list of a call. Nothing is sent before it is read. */
export function createList<Item>(
  transport: Transport,
  operation: Operation,
  request: object,
  options?: CallOptions,
): List<Item> {
  const read = operation.result === "numbered" ? readNumbered : readCursor;

  async function readCursor(position: object): Promise<[Page<Item>, object | undefined]> {
    const body = await transport.call<CursorBody<Item>>(operation, { ...request, ...position }, options);
    const { data: items, total, total_capped: totalCapped, next_cursor: nextCursor } = body;
    // The cursor counts from the first page, so the offset is not applied again.
    const next = nextCursor === "" ? undefined : { cursor: nextCursor, offset: undefined };
    return [{ items, total, totalCapped, nextCursor }, next];
  }

  async function readNumbered(position: object): Promise<[Page<Item>, object | undefined]> {
    const body = await transport.call<NumberedBody<Item>>(operation, { ...request, ...position }, options);
    const { data: items, total, page, per_page: perPage } = body;
    const hasMore = page * perPage < total;
    return [{ items, total, totalCapped: false, nextCursor: "" }, hasMore ? { page: page + 1 } : undefined];
  }

  async function* pages(): AsyncIterableIterator<Page<Item>> {
    for (let position: object | undefined = {}; position !== undefined; ) {
      const [page, next]: [Page<Item>, object | undefined] = await read(position);
      yield page;
      position = next;
    }
  }

  async function* items(): AsyncIterableIterator<Item> {
    for await (const page of pages()) yield* page.items;
  }

  return {
    pages,
    page: async () => (await read({}))[0],
    [Symbol.asyncIterator]: items,
    async take(max) {
      const taken: Item[] = [];
      if (max <= 0) return taken;
      for await (const item of items()) if (taken.push(item) >= max) break;
      return taken;
    },
  };
}
