import type { SamlConnection } from "../connections/index.ts";
import type { BrowserSession } from "../sessions/index.ts";
import type { PageRequest, PageResponse } from "./page-handler.ts";

/** The pages of SAML. */
export interface SamlPages {
  /** The address at the identity provider where the browser signs in. */
  start(connection: SamlConnection, requestId: string): Promise<string>;
  /** The address at the identity provider where the browser of an ended session signs out; undefined if there is none. */
  signOutUrl(session: BrowserSession): Promise<string | undefined>;
  /** Serves `/auth/saml/{connection}/{page}` and `/auth/saml/finish`. */
  handle(request: PageRequest, connectionId: string, page: string): Promise<PageResponse | undefined>;
}
