import type { InboxMessage } from "../gen/inbox.ts";
import { createButton, createElement, setText } from "./dom.ts";
import type { InboxTexts } from "./inbox-texts.ts";

/** What the items of the list do. */
export interface ItemActions {
  /** Somebody opens a message. Returns whether its link is followed. */
  open(message: InboxMessage): boolean;
  archive(message: InboxMessage): void;
}

/** One message of the list. Its elements stay the same while its content changes, so that it keeps the focus. */
export interface MessageItem {
  readonly element: HTMLLIElement;
  update(message: InboxMessage): void;
}

export function createMessageItem(first: InboxMessage, texts: InboxTexts, actions: ItemActions): MessageItem {
  let message = first;
  const url = linkOf(first);
  const unread = createElement("span", { class: "only-read-aloud", text: `${texts.isUnread} ` });
  const title = createElement("span");
  const name = createElement("span", { class: "name", children: [unread, title] });
  const body = createElement("span", { class: "text" });
  const time = createElement("time", { class: "time" });
  const children = [name, body, time];
  const onClick = (event: MouseEvent) => {
    if (!actions.open(message)) event.preventDefault();
  };
  const main =
    url === undefined
      ? createElement("button", { class: "message", attributes: { type: "button" }, children, onClick })
      : createElement("a", { class: "message", attributes: { href: url }, children, onClick });
  const archive = createButton("archive", "", () => actions.archive(message));
  const element = createElement("li", { class: "item", children: [main, archive] });

  function update(next: InboxMessage): void {
    message = next;
    const isUnread = next.read_at === undefined;
    element.classList.toggle("unread", isUnread);
    unread.hidden = !isUnread;
    setText(title, next.title);
    setText(body, next.body);
    body.hidden = next.body === "";
    if (next.created_at !== undefined) {
      time.dateTime = next.created_at;
      setText(time, new Date(next.created_at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }));
    }
    const verb = next.archived_at === undefined ? texts.archive : texts.restore;
    setText(archive, verb);
    archive.setAttribute("aria-label", `${verb}: ${next.title}`);
  }
  update(first);
  return { element, update };
}

/** The link of a message, in the field `link` of its data. Only addresses of web pages are links. */
function linkOf({ data }: InboxMessage): string | undefined {
  const url = data?.link;
  if (typeof url !== "string" || !URL.canParse(url, document.baseURI)) return undefined;
  const { protocol, href } = new URL(url, document.baseURI);
  return protocol === "https:" || protocol === "http:" ? href : undefined;
}
