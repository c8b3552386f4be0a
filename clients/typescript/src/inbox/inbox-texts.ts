/** The texts of the component, which a page can replace to translate them. */
export interface InboxTexts {
  readonly title: string;
  /** The name of the button that opens the panel. */
  readonly bell: (unseenCount: number) => string;
  readonly all: string;
  readonly unread: string;
  readonly archived: string;
  readonly markAllRead: string;
  readonly archive: string;
  readonly restore: string;
  readonly loadMore: string;
  readonly loading: string;
  readonly empty: string;
  readonly failed: string;
  readonly retry: string;
  readonly offline: string;
  /** Read to users of screen readers when messages arrive. */
  readonly arrived: (title: string) => string;
  /** Read before the title of an unread message. */
  readonly isUnread: string;
}

export const englishTexts: InboxTexts = {
  title: "Notifications",
  bell: (unseenCount) => (unseenCount === 0 ? "Notifications" : `Notifications, ${unseenCount} new`),
  all: "All",
  unread: "Unread",
  archived: "Archive",
  markAllRead: "Mark all as read",
  archive: "Archive",
  restore: "Move to inbox",
  loadMore: "Load older messages",
  loading: "Loading…",
  empty: "Nothing here.",
  failed: "The messages could not be loaded.",
  retry: "Try again",
  offline: "Reconnecting…",
  arrived: (title) => `New message: ${title}`,
  isUnread: "Unread:",
};
