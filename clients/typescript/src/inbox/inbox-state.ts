import type { InboxMessage } from "../gen/inbox.ts";

/** Which messages are shown. */
export type InboxView = "all" | "unread" | "archived";

/** What is known of an inbox. */
export interface InboxState {
  readonly status: "loading" | "ready" | "failed";
  readonly view: InboxView;
  /** Newest first. */
  readonly messages: readonly InboxMessage[];
  /** Whether there are older messages. */
  readonly hasMore: boolean;
  readonly unreadCount: number;
  readonly unseenCount: number;
  /** Whether new messages arrive by themselves. */
  readonly isLive: boolean;
}

/** The states that a call sets. */
export interface Mark {
  readonly seen?: boolean;
  readonly read?: boolean;
  readonly archived?: boolean;
}

/** Nothing is known yet. */
export const initialState: InboxState = {
  ...{ status: "loading", view: "all", messages: [], hasMore: false },
  ...{ unreadCount: 0, unseenCount: 0, isLive: false },
};

/** Puts a new or changed message in its place, or removes it if the view does not show it any more. */
export function placeMessage(state: InboxState, message: InboxMessage): InboxState {
  const others = state.messages.filter(({ id }) => id !== message.id);
  const oldest = state.messages.at(-1);
  // An older message belongs to a page that is not loaded.
  const isLoaded = !state.hasMore || (oldest !== undefined && message.id >= oldest.id);
  if (!isLoaded || !isShown(state.view, message)) return { ...state, messages: others };
  const at = others.findIndex(({ id }) => id < message.id);
  return { ...state, messages: others.toSpliced(at < 0 ? others.length : at, 0, message) };
}

/** Applies what the service has marked. Messages stay in the list until it is loaded again, unless they were archived. */
export function markMessages(
  state: InboxState,
  ids: ReadonlySet<string> | undefined,
  mark: Mark,
  at: string,
): InboxState {
  const marked = state.messages.map((message) =>
    ids === undefined || ids.has(message.id) ? withMark(message, mark, at) : message,
  );
  const isArchive = state.view === "archived";
  return { ...state, messages: marked.filter(({ archived_at }) => (archived_at !== undefined) === isArchive) };
}

function isShown(view: InboxView, { archived_at, read_at }: InboxMessage): boolean {
  if (view === "archived") return archived_at !== undefined;
  return archived_at === undefined && (view === "all" || read_at === undefined);
}

/** A message that is read is also seen, and one that is unseen is also unread. */
function withMark(message: InboxMessage, { seen, read, archived }: Mark, at: string): InboxMessage {
  const isSeen = read === true ? true : seen;
  const isRead = seen === false ? false : read;
  return {
    ...message,
    seen_at: timeOf(isSeen, message.seen_at, at),
    read_at: timeOf(isRead, message.read_at, at),
    archived_at: timeOf(archived, message.archived_at, at),
  };
}

function timeOf(value: boolean | undefined, before: string | undefined, at: string): string | undefined {
  if (value === undefined) return before;
  return value ? (before ?? at) : undefined;
}
