import type { SsoConnection } from "../connections/index.ts";
import type { PageDocument } from "./page-shell.ts";
import type { PageRefusal } from "./page-views.ts";
import type { SessionStarter, SigningBrowser } from "./session-start.ts";

/** A request of a browser. */
export interface PageRequest {
  readonly method: "GET" | "POST";
  /** The path without the prefix `/auth/`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The query as sent, without the question mark. */
  readonly rawQuery: string;
  /** The body of a form; empty for GET. */
  readonly form: URLSearchParams;
  /** Reads a header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
  readonly address: string;
}

export interface PageResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** A refused request counts against its address and connection. */
  readonly isRefused: boolean;
}

/** Helpers that the pages share. */
export interface PageTools {
  respond(document: PageDocument, status?: number): PageResponse;
  refuse(reason: PageRefusal, cause?: unknown): PageResponse;
  redirect(url: string, cookie?: string): PageResponse;
  browserOf(request: PageRequest): SigningBrowser;
  /** Starts the browser's session for a verified sign-in. */
  signIn(
    request: PageRequest,
    connection: SsoConnection,
    person: Parameters<SessionStarter["byProvider"]>[1],
    returnTo: string,
  ): Promise<PageResponse>;
}
