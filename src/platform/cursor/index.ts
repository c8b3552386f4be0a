/**
 * Cursors: where the next page of a list begins, as an opaque text that only this service can make.
 *
 * position   the sort key of the last row seen, in the list's own order
 * filter     a hash of everything that chose the rows; a cursor of another filter is refused
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
