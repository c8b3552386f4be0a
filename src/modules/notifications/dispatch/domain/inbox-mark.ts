import { invalid } from "../../../../errors/index.ts";

/** The states that a call sets on messages; undefined states stay as they are. */
export interface InboxMark {
  readonly seen: boolean | undefined;
  readonly read: boolean | undefined;
  readonly archived: boolean | undefined;
}

/**
 * Completes the states of a request: a message that is read is also seen, and one that is unseen is also unread. Throws if
 * the states contradict each other.
 */
export function completeMark({ seen, read, archived }: Partial<InboxMark>): InboxMark {
  if (seen === false && read === true) {
    throw invalid("seen", "inbox.state", "must not be false for a message that is read; send read or seen alone");
  }
  return { seen: read === true ? true : seen, read: seen === false ? false : read, archived };
}

/** Like completeMark, but throws if the request sets no state. */
export function requireMark(states: Partial<InboxMark>): InboxMark {
  const { seen, read, archived } = states;
  if (seen === undefined && read === undefined && archived === undefined) {
    throw invalid("read", "inbox.state", "at least one of seen, read and archived is required (for example: read)");
  }
  return completeMark(states);
}
