/**
 * Paging: every list is read in pages, in the order of a key, so that inserts do not shift it.
 *
 * page: what was asked for. position: the key of the last item that was given. cursor: the signed, opaque form of it.
 */
import { type Cursors, filterHash } from "../cursor/index.ts";

export { readKeyset } from "./keyset.ts";

const limitDefault = 50;
const limitMax = 1000;

/** The page size in force: 50 when none is asked for, never more than 1000. */
export function pageLimit(pageSize: number): number {
  return pageSize <= 0 ? limitDefault : Math.min(pageSize, limitMax);
}

/** The number of items to pass over; a negative one is none. */
export function pageOffset(skip: number): number {
  return Math.max(skip, 0);
}

/** What a store needs to read one page. */
export interface Page {
  /** One more than the page holds, to see whether there is a next one. */
  readonly fetch: number;
  readonly offset: number;
  /** The key of the last item that was given; undefined on the first page. */
  readonly after: string | undefined;
}

/** What a store answers with. */
export interface PageRows<T> {
  readonly rows: readonly T[];
  /** How many there are in all; only counted for the first page. */
  readonly total: number | undefined;
}

interface PageRequest {
  readonly pageSize: number;
  readonly pageToken: string;
  readonly skip: number;
}

interface Scope {
  readonly tenantId: string;
  readonly operation: string;
  /** What the list is filtered by; a cursor is good for the same filter only. */
  readonly filter?: readonly unknown[];
}

/** Reads one page: unpacks the cursor, has the store read, and makes the next cursor. */
export async function readPage<T>(
  cursors: Cursors,
  request: PageRequest,
  scope: Scope,
  keyOf: (row: T) => string,
  read: (page: Page) => Promise<PageRows<T>>,
): Promise<{ items: readonly T[]; nextPageToken: string; totalSize: number }> {
  const bound = { tenantId: scope.tenantId, operation: scope.operation, filter: filterHash(scope.filter ?? []) };
  const from = request.pageToken === "" ? undefined : cursors.decode(request.pageToken, bound);
  const limit = pageLimit(request.pageSize);
  const after = from === undefined ? undefined : String(from.position[0]);
  const { rows, total } = await read({ fetch: limit + 1, offset: pageOffset(request.skip), after });
  const items = rows.slice(0, limit);
  const totalSize = total ?? from?.total ?? 0;
  const nextPageToken =
    rows.length > limit ? cursors.encode({ ...bound, position: [keyOf(items.at(-1)!)], total: totalSize }) : "";
  return { items, nextPageToken, totalSize };
}

/** One page of a list that is all at hand, in the order of its keys. */
export function pageOf<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  { after, offset, fetch }: Page,
): PageRows<T> {
  const beyond = after === undefined ? items : items.filter((item) => keyOf(item) > after);
  return { rows: beyond.slice(offset, offset + fetch), total: items.length };
}
