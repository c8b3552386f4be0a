/**
 * Paging: keyset pagination of every list, so that concurrent inserts do not shift pages.
 *
 * page: the requested range. position: the key of the last returned item. cursor: the signed, opaque form of a position.
 */
import { invalid } from "../../errors/index.ts";
import { type Cursors, filterHash, type Total } from "../cursor/index.ts";
import { approximateBytes } from "../document/index.ts";
import { type Page, type PageRows, pageBytesMax } from "./page.ts";

export { type BoundedCount, readKeyset, scanMax, totalMax, totalOf } from "./keyset.ts";
export { leaseBytesMax, selectWithinBytes } from "./lease-bytes.ts";
export { type Page, type PageRows, pageBytesMax } from "./page.ts";
export type { Total };

const limitDefault = 50;
const limitMax = 1000;

/** The largest number of items that an offset may skip. A cursor has no such limit. */
export const offsetMax = 10_000;

/** The effective page size: 50 by default, 1000 at most. */
export function pageLimit(pageSize: number): number {
  return pageSize <= 0 ? limitDefault : Math.min(pageSize, limitMax);
}

/** The number of items to skip; a negative number counts as 0. */
export function pageOffset(skip: number): number {
  return Math.max(skip, 0);
}

/** The fields of list requests that choose a page. */
export interface PageRequest {
  readonly pageSize: number;
  readonly pageToken: string;
  readonly skip: number;
}

interface Scope {
  readonly tenantId: string;
  readonly operation: string;
  /** The filter of the list. A cursor is valid for the same filter only. */
  readonly filter?: readonly unknown[];
}

/** A page in the form of list responses. */
interface PageResult<T> {
  readonly items: readonly T[];
  readonly nextPageToken: string;
  readonly totalSize: number;
  readonly totalCapped: boolean;
}

/** A list response whose rows are in the given field. */
export type ListPage<Field extends string, Row> = Omit<PageResult<Row>, "items"> &
  Readonly<Record<Field, readonly Row[]>>;

/** Reads the rows of a page from a store. */
export type ReadRows<Row> = (page: Page) => Promise<PageRows<Row>>;

/** Returns the key by which the rows of a list are ordered. */
export type KeyOf<Row> = (row: Row) => string;

/** Reads one page: decodes the cursor, reads the rows from the store, and encodes the next cursor. */
export async function readPage<T>(
  cursors: Cursors,
  request: PageRequest,
  scope: Scope,
  keyOf: KeyOf<T>,
  read: ReadRows<T>,
): Promise<PageResult<T>> {
  const bound = { tenantId: scope.tenantId, operation: scope.operation, filter: filterHash(scope.filter ?? []) };
  const from = request.pageToken === "" ? undefined : cursors.decode(request.pageToken, bound);
  const limit = pageLimit(request.pageSize);
  const offset = pageOffset(request.skip);
  const after = from === undefined ? undefined : String(from.position[0]);
  const { rows, total: counted, isCut, scannedTo } = await readBounded(read, { fetch: limit + 1, offset, after });
  const items = rows.slice(0, limit);
  const total = atLeast(counted ?? from?.total ?? { count: 0, capped: false }, offset + rows.length);
  const position = isCut || rows.length > limit ? keyOf(items.at(-1)!) : scannedTo;
  const nextPageToken = position === undefined ? "" : cursors.encode({ ...bound, position: [position], total });
  return { items, nextPageToken, totalSize: total.count, totalCapped: total.capped };
}

/** Reads a page without skipping more than offsetMax items. A larger offset is valid only if the list ends before offsetMax. */
async function readBounded<T>(read: ReadRows<T>, page: Page): Promise<PageRows<T>> {
  const isBeyond = page.offset > offsetMax;
  const found = await read(isBeyond ? { ...page, fetch: 1, offset: offsetMax } : page);
  const isCutShort = found.rows.length === 0 && found.scannedTo !== undefined && page.offset > 0;
  if (isCutShort || (isBeyond && found.rows.length > 0)) {
    throw invalid(
      "skip",
      "offset",
      "skips too many items of this list; continue with the cursor of the previous page instead",
    );
  }
  return found;
}

/** Raises a capped count to at least the number of rows seen. */
function atLeast({ count, capped }: Total, seen: number): Total {
  return { count: capped ? Math.max(count, seen) : count, capped };
}

/** Returns one page of an in-memory list that is sorted by key. */
export function pageOf<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  { after, offset, fetch }: Page,
): PageRows<T> {
  const beyond = after === undefined ? items : items.filter((item) => keyOf(item) > after);
  return { ...cutRows(beyond.slice(offset, offset + fetch)), total: { count: items.length, capped: false } };
}

/** Ends the rows of an in-memory list where a page is full. */
export function cutRows<T>(rows: readonly T[]): Pick<PageRows<T>, "rows" | "isCut"> {
  let bytes = 0;
  const end = rows.findIndex((row, nth) => {
    bytes += approximateBytes(row);
    return nth > 0 && bytes > pageBytesMax;
  });
  return end === -1 ? { rows, isCut: false } : { rows: rows.slice(0, end), isCut: true };
}
