/**
 * Paging: every list is read in pages, in the order of a key, so that inserts do not shift it.
 *
 * page: what was asked for. position: the key of the last item that was given. cursor: the signed, opaque form of it.
 */
import { invalid } from "../../errors/index.ts";
import { type Cursors, filterHash, type Total } from "../cursor/index.ts";
import type { Page, PageRows } from "./page.ts";

export { type Counted, readKeyset, scanMax, totalMax, totalOf } from "./keyset.ts";
export type { Page, PageRows } from "./page.ts";
export type { Total };

const limitDefault = 50;
const limitMax = 1000;

/** How many items an offset passes over at most; a cursor goes on from anywhere. */
export const offsetMax = 10_000;

/** The page size in force: 50 when none is asked for, never more than 1000. */
export function pageLimit(pageSize: number): number {
  return pageSize <= 0 ? limitDefault : Math.min(pageSize, limitMax);
}

/** The number of items to pass over; a negative one is none. */
export function pageOffset(skip: number): number {
  return Math.max(skip, 0);
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

/** A page as list responses carry it. */
interface ReadPage<T> {
  readonly items: readonly T[];
  readonly nextPageToken: string;
  readonly totalSize: number;
  readonly totalCapped: boolean;
}

/** Reads one page: unpacks the cursor, has the store read, and makes the next cursor. */
export async function readPage<T>(
  cursors: Cursors,
  request: PageRequest,
  scope: Scope,
  keyOf: (row: T) => string,
  read: (page: Page) => Promise<PageRows<T>>,
): Promise<ReadPage<T>> {
  const bound = { tenantId: scope.tenantId, operation: scope.operation, filter: filterHash(scope.filter ?? []) };
  const from = request.pageToken === "" ? undefined : cursors.decode(request.pageToken, bound);
  const limit = pageLimit(request.pageSize);
  const offset = pageOffset(request.skip);
  const after = from === undefined ? undefined : String(from.position[0]);
  const { rows, total: counted, scannedTo } = await readBounded(read, { fetch: limit + 1, offset, after });
  const items = rows.slice(0, limit);
  const total = atLeast(counted ?? from?.total ?? { count: 0, capped: false }, offset + rows.length);
  const position = rows.length > limit ? keyOf(items.at(-1)!) : scannedTo;
  const nextPageToken = position === undefined ? "" : cursors.encode({ ...bound, position: [position], total });
  return { items, nextPageToken, totalSize: total.count, totalCapped: total.capped };
}

/** Reads a page without passing over more than offsetMax items: behind the end of a list there is nothing to pass. */
async function readBounded<T>(read: (page: Page) => Promise<PageRows<T>>, page: Page): Promise<PageRows<T>> {
  const isBeyond = page.offset > offsetMax;
  const found = await read(isBeyond ? { ...page, fetch: 1, offset: offsetMax } : page);
  const isCutShort = found.rows.length === 0 && found.scannedTo !== undefined && page.offset > 0;
  if (isCutShort || (isBeyond && found.rows.length > 0)) {
    throw invalid(
      "skip",
      "offset",
      "passes over too many items of this list; go on with the cursor of the page before",
    );
  }
  return found;
}

/** A count that stopped early is no less than what was seen. */
function atLeast({ count, capped }: Total, seen: number): Total {
  return { count: capped ? Math.max(count, seen) : count, capped };
}

/** One page of a list that is all at hand, in the order of its keys. */
export function pageOf<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  { after, offset, fetch }: Page,
): PageRows<T> {
  const beyond = after === undefined ? items : items.filter((item) => keyOf(item) > after);
  return { rows: beyond.slice(offset, offset + fetch), total: { count: items.length, capped: false } };
}
