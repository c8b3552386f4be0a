import type { Total } from "../cursor/index.ts";

/** The range of rows that a store reads for one page. */
export interface Page {
  /** One more than the page size, to detect whether there is a next page. */
  readonly fetch: number;
  readonly offset: number;
  /** The key of the last item of the previous page; undefined on the first page. */
  readonly after: string | undefined;
}

/** The rows that a store returns for one page. */
export interface PageRows<T> {
  readonly rows: readonly T[];
  /** The number of rows in the list; counted for the first page only. */
  readonly total: Total | undefined;
  /** Whether the rows end before `fetch`, because more would take too many bytes. There is at least one row. */
  readonly isCut: boolean;
  /** The key of the last scanned row, if the store stopped scanning before the page was full. */
  readonly scannedTo?: string | undefined;
}

/** About how many bytes the rows of one page take; a single larger row is a page of its own. */
export const pageBytesMax = 2 * 1024 * 1024;
