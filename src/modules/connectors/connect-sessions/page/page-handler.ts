import type { createCallbackFlow } from "../flow/callback-flow.ts";
import type { PageView } from "../flow/page-view.ts";
import { refused, type SessionFlow } from "../flow/session-flow.ts";
import { createPageShell, type PageDocument } from "./page-shell.ts";
import { documentOf, returnDocument } from "./page-views.ts";
import { formToken, hasFormToken, readCookie, setCookie } from "./session-cookie.ts";

/** The page that a request addresses, by its method and path. */
export type PageTarget =
  | { readonly kind: "show" | "open" | "submit" | "cancel"; readonly sessionId: string }
  | { readonly kind: "callback"; readonly configId: string };

/** A request of a browser. */
export interface PageRequest {
  readonly target: PageTarget;
  readonly query: URLSearchParams;
  /** The body of a form; empty for GET. */
  readonly form: URLSearchParams;
  /** Reads a header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
}

/** The response of the hosted page. */
export interface PageResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the browser has proven that it may use the session. A refused request counts against its address. */
  readonly isRefused: boolean;
  /** Whether pages of some origins may embed the response. */
  readonly isEmbeddable: boolean;
}

interface Dependencies {
  readonly flow: SessionFlow;
  readonly receiveCallback: ReturnType<typeof createCallbackFlow>;
  /** The URL at which browsers reach the service. */
  readonly publicUrl: () => string;
}

const refusedStatuses = {
  unknown_session: 404,
  opened_elsewhere: 403,
  invalid_token: 403,
  invalid_state: 400,
  other_browser: 403,
  too_late: 410,
} as const;

export function createConnectPages({ flow, receiveCallback, publicUrl }: Dependencies) {
  const shell = createPageShell();

  const isSecure = () => publicUrl().startsWith("https:");
  const addressOf = (sessionId: string) => `${new URL(publicUrl()).pathname.replace(/\/$/, "")}/connect/${sessionId}`;
  const cookieIn = ({ header }: PageRequest, sessionId: string) =>
    readCookie(header("cookie") ?? "", sessionId, isSecure());

  /** Whether a form was sent by a page of this service, as far as the browser says. */
  function isOwnForm({ header }: PageRequest): boolean {
    const site = header("sec-fetch-site");
    if (site !== undefined) return site === "same-origin";
    // Browsers send "null" from pages with the referrer policy no-referrer.
    const origin = header("origin") ?? "null";
    return origin === "null" || origin === new URL(publicUrl()).origin;
  }

  function respond(status: number, document: PageDocument, view: PageView): PageResponse {
    const origins = "frame" in view ? view.frame.allowedOrigins : view.kind === "locked" ? view.allowedOrigins : [];
    return {
      status,
      headers: shell.headers(origins),
      body: shell.render(document),
      isRefused: view.kind === "refused",
      isEmbeddable: origins.length > 0,
    };
  }

  function redirectTo(url: string, headers: Record<string, string> = {}): PageResponse {
    return {
      status: 303,
      headers: { location: url, "cache-control": "no-store", "referrer-policy": "no-referrer", ...headers },
      body: "",
      isRefused: false,
      isEmbeddable: false,
    };
  }

  /** Shows a view. A form must not be redirected to another origin, because browsers block that. */
  function show(view: PageView, request: PageRequest, sessionId: string | undefined): PageResponse {
    const isForm = request.target.kind !== "show" && request.target.kind !== "callback";
    if (view.kind === "redirect") {
      return isForm ? respond(200, returnDocument(view.url), view) : redirectTo(view.url);
    }
    const address = sessionId === undefined ? "" : addressOf(sessionId);
    if (view.kind === "end") {
      const { redirectUri, frame } = view;
      const isDirect = redirectUri !== "" && frame.allowedOrigins.length === 0;
      // The query of a callback must not stay in the address.
      if (request.target.kind !== "show" && !isDirect) return redirectTo(address);
      if (isDirect) return isForm ? respond(200, returnDocument(redirectUri), view) : redirectTo(redirectUri);
    }
    const cookie = sessionId === undefined ? undefined : cookieIn(request, sessionId);
    const token = cookie === undefined ? "" : formToken(cookie, sessionId!);
    const status =
      view.kind === "refused" ? refusedStatuses[view.reason] : view.kind === "form" && view.problem !== "" ? 422 : 200;
    return respond(status, documentOf(view, { address, formToken: token }), view);
  }

  return {
    async handle(request: PageRequest) {
      const { target, query, form } = request;
      if (target.kind === "callback") {
        const cookieOf = (sessionId: string) => cookieIn(request, sessionId);
        const { view, sessionId } = await receiveCallback({ configId: target.configId, query, cookieOf });
        return show(view, request, sessionId);
      }
      const { kind, sessionId } = target;
      const cookie = cookieIn(request, sessionId);
      switch (kind) {
        case "show": {
          const choice = { providerKey: query.get("provider") ?? undefined, mode: query.get("mode") ?? undefined };
          return show(await flow.view(sessionId, cookie, choice), request, sessionId);
        }
        case "open": {
          const opened = isOwnForm(request)
            ? await flow.open(sessionId, form.get("token") ?? "")
            : refused("invalid_token");
          if (!("cookie" in opened)) return show(opened, request, sessionId);
          const isFramed = request.header("sec-fetch-dest") === "iframe";
          const header = setCookie(sessionId, opened.cookie, { isSecure: isSecure(), isFramed });
          return redirectTo(addressOf(sessionId), { "set-cookie": header });
        }
        case "submit":
        case "cancel": {
          if (cookie === undefined || !isOwnForm(request) || !hasFormToken(form, cookie, sessionId)) {
            return show(refused("opened_elsewhere"), request, sessionId);
          }
          const view = kind === "submit" ? flow.submit(sessionId, cookie, form) : flow.cancel(sessionId, cookie);
          return show(await view, request, sessionId);
        }
      }
    },
  };
}
