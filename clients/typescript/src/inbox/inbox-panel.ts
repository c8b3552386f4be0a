import type { InboxMessage } from "../gen/inbox.ts";
import { createButton, createElement, setText } from "./dom.ts";
import type { InboxState, InboxView } from "./inbox-state.ts";
import type { InboxTexts } from "./inbox-texts.ts";
import { createMessageItem, type ItemActions, type MessageItem } from "./message-item.ts";

/** What the panel does. */
export interface PanelActions extends ItemActions {
  show(view: InboxView): void;
  markAllRead(): void;
  loadMore(): void;
  retry(): void;
}

/** The panel with the messages. */
export interface InboxPanel {
  readonly element: HTMLElement;
  /** Shows a state. */
  render(state: InboxState): void;
  /** Moves the focus into the panel. */
  focus(): void;
}

export function createInboxPanel(texts: InboxTexts, actions: PanelActions): InboxPanel {
  const views = (["all", "unread", "archived"] as const).map((view) => {
    const button = createButton("view", texts[view], () => actions.show(view));
    return { view, button };
  });
  const markAll = createButton("mark-all", texts.markAllRead, () => actions.markAllRead());
  const title = createElement("h2", { text: texts.title, attributes: { id: "title", tabindex: "-1" } });
  const list = createElement("ul", { class: "list", attributes: { role: "list", "aria-labelledby": "title" } });
  const note = createElement("p", { class: "note", attributes: { role: "status" } });
  const more = createButton("more", texts.loadMore, () => actions.loadMore());
  const retry = createButton("retry", texts.retry, () => actions.retry());
  const element = createElement("section", {
    class: "panel",
    attributes: { role: "dialog", "aria-labelledby": "title" },
    children: [
      createElement("header", { children: [title, markAll] }),
      createElement("div", { class: "views", children: views.map(({ button }) => button) }),
      ...[list, note, retry, more],
    ],
  });
  const items = new Map<string, MessageItem>();

  function place(message: InboxMessage, at: number): void {
    let item = items.get(message.id);
    if (item === undefined) {
      item = createMessageItem(message, texts, actions);
      items.set(message.id, item);
    } else item.update(message);
    // An element that is in its place already is not moved: moving it would take its focus.
    if (list.children[at] !== item.element) list.insertBefore(item.element, list.children[at] ?? null);
  }

  function removeOthers(messages: readonly InboxMessage[]): void {
    const kept = new Set(messages.map(({ id }) => id));
    for (const [id, { element: item }] of items) {
      if (kept.has(id)) continue;
      const hadFocus = item.contains((list.getRootNode() as ShadowRoot).activeElement);
      const neighbour = item.nextElementSibling ?? item.previousElementSibling;
      item.remove();
      items.delete(id);
      if (hadFocus) (neighbour?.querySelector<HTMLElement>(".message") ?? title).focus();
    }
  }

  list.addEventListener("keydown", (event) => moveFocus(event, list));

  return {
    element,
    render(state) {
      for (const { view, button } of views) button.setAttribute("aria-pressed", String(view === state.view));
      removeOthers(state.messages);
      for (const [at, message] of state.messages.entries()) place(message, at);
      setText(note, noteOf(state, texts));
      note.hidden = note.textContent === "";
      markAll.hidden = state.unreadCount === 0;
      more.hidden = !state.hasMore;
      retry.hidden = state.status !== "failed";
    },
    focus: () => (list.querySelector<HTMLElement>(".message") ?? title).focus(),
  };
}

function noteOf({ status, messages, isLive }: InboxState, texts: InboxTexts): string {
  if (status === "failed") return texts.failed;
  if (status === "loading") return texts.loading;
  if (!isLive) return texts.offline;
  return messages.length === 0 ? texts.empty : "";
}

/** The arrow keys, Home and End move between messages. */
function moveFocus(event: KeyboardEvent, list: HTMLElement): void {
  const messages = [...list.querySelectorAll<HTMLElement>(".message")];
  const at = messages.findIndex((message) => message.parentElement!.contains(event.target as Node));
  const targets: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: messages.length - 1 };
  const target = messages[targets[event.key] ?? -1];
  if (target === undefined) return;
  event.preventDefault();
  target.focus();
}
