/**
 * Cursors: opaque, signed tokens for the position of the next page of a list.
 *
 * position   the sort key of the last row of the previous page
 * filter     a hash of everything that selects the rows; a cursor with another filter is rejected
 */
export {
  type CursorContent,
  type CursorPosition,
  type CursorScope,
  type Cursors,
  createCursors,
  type Total,
} from "./cursor.ts";
export { filterHash } from "./filter-hash.ts";
