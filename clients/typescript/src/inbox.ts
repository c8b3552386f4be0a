/**
 * The inbox of a subscriber in a web page.
 *
 * Inbox: the messages, their counts and their states, kept up to date; it has no user interface. Element: the custom element
 * `<switchyard-inbox>`, which shows an inbox. Token: a short-lived credential of one subscriber, which your backend creates.
 */
export type { InboxMessage } from "./gen/inbox.ts";
export { defineInbox, type SwitchyardInboxElement } from "./inbox/inbox-element.ts";
export { createInbox, type Inbox, type InboxOptions } from "./inbox/inbox-session.ts";
export type { InboxState, InboxView, Mark } from "./inbox/inbox-state.ts";
export { englishTexts, type InboxTexts } from "./inbox/inbox-texts.ts";
export type { GetToken, SubscriberToken } from "./inbox/token-source.ts";
