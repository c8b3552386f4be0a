/** A reader's position in an inbox. */
export interface InboxPosition {
  readonly stamp: string;
  readonly id: string;
  /** Messages visible in this snapshot are skipped, for readers that want new messages only. */
  readonly snapshot: string | undefined;
  /** Older messages and changes are not read. */
  readonly sinceMs: number;
}

const form = /^(\d{1,19})-(\d{13})-([0-9A-Z]{26})$/;

/** Writes a position as the cursor of a message. */
export function encodePosition({ stamp, id, sinceMs }: InboxPosition): string {
  return `${stamp}-${String(sinceMs).padStart(13, "0")}-${id}`;
}

/** Reads a cursor; undefined if it has another form. */
export function decodePosition(cursor: string): InboxPosition | undefined {
  const [, stamp, sinceMs, id] = form.exec(cursor) ?? [];
  return stamp === undefined ? undefined : { stamp, id: id!, snapshot: undefined, sinceMs: Number(sinceMs) };
}
