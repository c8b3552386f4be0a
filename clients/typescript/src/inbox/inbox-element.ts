import type { InboxMessage } from "../gen/inbox.ts";
import { createButton, createElement, createIcon, setText } from "./dom.ts";
import { createInboxPanel, type InboxPanel } from "./inbox-panel.ts";
import { createInbox, type Inbox } from "./inbox-session.ts";
import { styleText } from "./inbox-style.ts";
import { englishTexts, type InboxTexts } from "./inbox-texts.ts";
import type { GetToken } from "./token-source.ts";

/**
 * The element `<switchyard-inbox>`: a bell with the number of new messages, and a panel with the messages.
 *
 * Attributes: `base-url`, the address of the service; `subscriber`, the id of the subscriber; `theme`, `light` or `dark`, by
 * default that of the system. Events: `switchyard-message`, when a message is opened, with the message as its detail; a page
 * that handles it itself prevents its default. `switchyard-counts`, when the numbers of messages change.
 */
export interface SwitchyardInboxElement extends HTMLElement {
  /** Gets a new token of the subscriber from your backend. The element calls it whenever it needs one. */
  getToken: GetToken | undefined;
  /** The texts, in English by default. Set them before the element is connected. */
  texts: InboxTexts;
  /** The inbox behind the element; undefined until it has an address, a subscriber and `getToken`. */
  readonly inbox: Inbox | undefined;
  /** Whether the panel is shown. */
  open: boolean;
}

const bellPath = "M18 9a6 6 0 1 0-12 0c0 6-2 7-2 7h16s-2-1-2-7M10.3 20a2 2 0 0 0 3.4 0";
const badgeMax = 99;

/** Defines the element, once. Without a browser, as on a server that renders pages, it does nothing. */
export function defineInbox(name = "switchyard-inbox"): void {
  if (typeof customElements === "undefined" || customElements.get(name) !== undefined) return;
  customElements.define(name, createElementClass());
}

/** Created on demand, because HTMLElement exists only in browsers. */
function createElementClass(): CustomElementConstructor {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styleText);

  return class extends HTMLElement implements SwitchyardInboxElement {
    static readonly observedAttributes = ["base-url", "subscriber"];
    #texts = englishTexts;
    #getToken: GetToken | undefined;
    #inbox: Inbox | undefined;
    #unsubscribe: (() => void) | undefined;
    #panel: InboxPanel | undefined;
    #newest = "";
    #counts = "";
    readonly #badge = createElement("span", { class: "badge", attributes: { "aria-hidden": "true" } });
    readonly #bell = createButton("bell", "", () => this.#toggle());
    readonly #announcer = createElement("div", { class: "only-read-aloud", attributes: { "aria-live": "polite" } });
    readonly #onVisibility = () => this.#followWhileVisible();
    readonly #onPointer = (event: Event) => {
      if (this.open && !event.composedPath().includes(this)) this.open = false;
    };

    constructor() {
      super();
      const root = this.attachShadow({ mode: "open" });
      root.adoptedStyleSheets = [sheet];
      this.#bell.append(createIcon(bellPath), this.#badge);
      this.#bell.setAttribute("aria-haspopup", "dialog");
      root.append(this.#bell, this.#announcer);
      root.addEventListener("keydown", (event) => this.#onKey(event as KeyboardEvent));
    }

    get getToken() {
      return this.#getToken;
    }
    set getToken(value) {
      this.#getToken = value;
      this.#connect();
    }

    get texts() {
      return this.#texts;
    }
    set texts(value) {
      this.#texts = value;
    }

    get inbox() {
      return this.#inbox;
    }

    get open() {
      return this.#panel !== undefined && !this.#panel.element.hidden;
    }
    set open(value) {
      if (value === this.open || this.#panel === undefined) return;
      this.#panel.element.hidden = !value;
      if (value) this.#placePanel(this.#panel.element);
      this.#render();
      if (value) this.#panel.focus();
      else this.#bell.focus();
    }

    connectedCallback(): void {
      this.#adoptProperty("getToken");
      this.#adoptProperty("texts");
      if (this.#panel === undefined) {
        this.#panel = createInboxPanel(this.texts, {
          open: (message) => this.#openMessage(message),
          archive: (message) => this.#mark([message.id], { archived: message.archived_at === undefined }),
          show: (view) => void this.#inbox?.show(view),
          markAllRead: () => this.#mark("all", { read: true }),
          loadMore: () => void this.#inbox?.loadMore().catch(() => {}),
          retry: () => void this.#inbox?.show(this.#inbox.state.view),
        });
        this.#panel.element.hidden = true;
        this.#announcer.before(this.#panel.element);
      }
      document.addEventListener("visibilitychange", this.#onVisibility);
      document.addEventListener("pointerdown", this.#onPointer);
      this.#connect();
    }

    disconnectedCallback(): void {
      document.removeEventListener("visibilitychange", this.#onVisibility);
      document.removeEventListener("pointerdown", this.#onPointer);
      this.#disconnect();
    }

    attributeChangedCallback(): void {
      this.#connect();
    }

    /** A property that was set before the element was defined hides its setter. */
    #adoptProperty(name: "getToken" | "texts"): void {
      if (!Object.hasOwn(this, name)) return;
      const { [name]: value } = this;
      delete (this as Partial<SwitchyardInboxElement>)[name];
      Object.assign(this, { [name]: value });
    }

    /** Starts over with the current attributes, as soon as everything is there. */
    #connect(): void {
      this.#disconnect();
      const baseUrl = this.getAttribute("base-url");
      const subscriberId = this.getAttribute("subscriber");
      if (!this.isConnected || baseUrl === null || !subscriberId || this.#getToken === undefined) return;
      const getToken = this.#getToken;
      this.#inbox = createInbox({ baseUrl, subscriberId, getToken: () => getToken() });
      this.#unsubscribe = this.#inbox.subscribe(() => this.#render());
      this.#followWhileVisible();
      this.#render();
    }

    #disconnect(): void {
      this.#unsubscribe?.();
      this.#inbox?.stop();
      this.#inbox = undefined;
      this.#newest = "";
    }

    /** A hidden page needs no connection. Browsers allow few to one host, and a page that is shown again misses nothing. */
    #followWhileVisible(): void {
      if (document.visibilityState === "visible") this.#inbox?.start();
      else this.#inbox?.stop();
    }

    #render(): void {
      const state = this.#inbox?.state;
      if (state === undefined || this.#panel === undefined) return;
      const { unseenCount, unreadCount, messages, status } = state;
      this.#badge.hidden = unseenCount === 0;
      setText(this.#badge, unseenCount > badgeMax ? `${badgeMax}+` : String(unseenCount));
      this.#bell.setAttribute("aria-label", this.texts.bell(unseenCount));
      this.#bell.setAttribute("aria-expanded", String(this.open));
      this.#panel.render(state);
      this.#announceNew(status === "ready" ? messages[0] : undefined);
      const counts = `${unseenCount} ${unreadCount}`;
      if (counts !== this.#counts) {
        this.#counts = counts;
        this.dispatchEvent(new CustomEvent("switchyard-counts", { detail: { unseenCount, unreadCount } }));
      }
      if (this.open) this.#markSeen(messages);
    }

    /** Opens the panel towards the middle of the page, where there is room for it. */
    #placePanel(panel: HTMLElement): void {
      const { left, right, top, bottom } = this.#bell.getBoundingClientRect();
      panel.classList.toggle("to-left", left + right > innerWidth);
      panel.classList.toggle("above", top + bottom > innerHeight);
    }

    /** Tells users of screen readers of a message that has arrived since the list was loaded. */
    #announceNew(newest: InboxMessage | undefined): void {
      if (newest === undefined || newest.id <= this.#newest) return;
      if (this.#newest !== "" && newest.seen_at === undefined)
        setText(this.#announcer, this.texts.arrived(newest.title));
      this.#newest = newest.id;
    }

    #isMarking = false;
    /** Messages that are shown are seen. */
    #markSeen(messages: readonly InboxMessage[]): void {
      const unseen = messages.filter(({ seen_at }) => seen_at === undefined).map(({ id }) => id);
      if (unseen.length === 0 || this.#isMarking || this.#inbox === undefined) return;
      this.#isMarking = true;
      this.#inbox
        .mark(unseen.slice(0, 100), { seen: true })
        .catch(() => {})
        .finally(() => {
          this.#isMarking = false;
        });
    }

    #mark(...args: Parameters<Inbox["mark"]>): void {
      // A failed call leaves the state as the service has it.
      this.#inbox?.mark(...args).catch(() => {});
    }

    #openMessage(message: InboxMessage): boolean {
      if (message.read_at === undefined) this.#mark([message.id], { read: true });
      const init = { detail: message, bubbles: true, composed: true, cancelable: true };
      return this.dispatchEvent(new CustomEvent("switchyard-message", init));
    }

    #toggle(): void {
      this.open = !this.open;
    }

    #onKey(event: KeyboardEvent): void {
      if (event.key !== "Escape" || !this.open) return;
      event.stopPropagation();
      this.open = false;
    }
  };
}
