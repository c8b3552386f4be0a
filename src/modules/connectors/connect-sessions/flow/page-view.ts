import type { AuthMode } from "../../manifests/index.ts";
import type { SessionError } from "../domain/connect-session.ts";
import type { EndStatus } from "../domain/session-status.ts";

/** Content of all views of an opened session. */
export interface PageFrame {
  readonly sessionId: string;
  /** The name of the tenant. */
  readonly application: string;
  /** The name of the end user for whom an account is connected. */
  readonly endUser: string;
  readonly allowedOrigins: readonly string[];
  readonly isReconnection: boolean;
}

/** A provider to choose. */
export interface ProviderItem {
  readonly key: string;
  readonly name: string;
  readonly description: string;
}

/** An input of the form. Values of secret fields are never shown again. */
export interface FormField {
  /** For example `settings.subdomain` or `credentials.api_key`. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly isSecret: boolean;
  readonly isRequired: boolean;
  readonly isMultiline: boolean;
  readonly pattern: string | undefined;
  readonly choices: readonly string[] | undefined;
  readonly example: string;
  readonly value: string;
  /** Problem with the submitted value; empty if there is none. */
  readonly problem: string;
}

/** The form for one mode of a provider. */
export interface FormView {
  readonly kind: "form";
  readonly frame: PageFrame;
  readonly provider: ProviderItem;
  /** Whether there are other providers to choose. */
  readonly canChoose: boolean;
  readonly mode: AuthMode;
  readonly modes: readonly AuthMode[];
  readonly fields: readonly FormField[];
  /** Permissions to request from the provider, in words. */
  readonly permissions: readonly string[];
  /** Previous problem; empty if there was none. */
  readonly problem: string;
}

/** A view of the hosted page, or its next action. */
export type PageView =
  /** Nothing can be shown: the session is unknown, or belongs to another browser. */
  | { readonly kind: "refused"; readonly reason: RefusalReason }
  /** The browser has not opened the session yet; the page swaps the token of the fragment for a cookie. */
  | { readonly kind: "locked"; readonly sessionId: string; readonly allowedOrigins: readonly string[] }
  | { readonly kind: "choice"; readonly frame: PageFrame; readonly providers: readonly ProviderItem[] }
  | FormView
  /** The end user continues at the provider. */
  | { readonly kind: "departure"; readonly frame: PageFrame; readonly providerName: string; readonly url: string }
  /** A backend has to complete the session. */
  | { readonly kind: "waiting"; readonly frame: PageFrame }
  | EndView
  /** The end user returns to the application at once. */
  | { readonly kind: "redirect"; readonly url: string };

/** The result of a session. */
export interface EndView {
  readonly kind: "end";
  readonly frame: PageFrame;
  readonly status: EndStatus;
  readonly errorCode: SessionError | "";
  /** Where the end user goes next; empty if nowhere. */
  readonly redirectUri: string;
}

export type RefusalReason =
  | "unknown_session"
  | "opened_elsewhere"
  | "invalid_token"
  | "invalid_state"
  | "other_browser"
  | "too_late";
