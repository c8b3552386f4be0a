import type { Total } from "../cursor/index.ts";

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
  readonly total: Total | undefined;
  /** The key of the last row that was looked at, when the store stopped looking before the page was full. */
  readonly scannedTo?: string | undefined;
}
