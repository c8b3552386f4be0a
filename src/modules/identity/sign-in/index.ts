/**
 * Sign-in: the pages and flows that lead to a session.
 *
 * Attempt: a sign-in that a browser has started. Flow: what happens at the identity provider and after it. Ticket: with it, the
 * browser comes back after SAML. Starter: starts the session of a person whom the identity provider has named.
 */

import type { Audit } from "../../../platform/audit/index.ts";
import type { Egress } from "../../../platform/egress/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { MemberFinder } from "../connections/index.ts";
import type { Saml } from "../saml/index.ts";
import type { Sessions } from "../sessions/index.ts";
import { createOidcFlow } from "./oidc-flow.ts";
import { createSignInPages } from "./page-handler.ts";
import { createSamlPages } from "./saml-pages.ts";
import { createSessionStarter } from "./session-start.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "log" | "keyring"> {
  readonly audit: Audit | undefined;
  readonly egress: Egress;
  readonly sessions: Pick<Sessions, "service" | "metrics" | "authenticator">;
  readonly findMember: MemberFinder;
  /** Undefined if SAML is off. */
  readonly saml: Saml | undefined;
  readonly publicUrl: () => string;
  readonly sessionMs: number;
}

/** Creates the pages on which people sign in and out. */
export function createSignIn(dependencies: Dependencies) {
  const { saml, sessions } = dependencies;
  const { service, metrics, authenticator } = sessions;
  const starter = createSessionStarter({ ...dependencies, sessions: service });
  return createSignInPages({
    ...dependencies,
    ...{ starter, metrics, authenticator, sessions: service, oidc: createOidcFlow(dependencies) },
    samlPages: saml && ((tools) => createSamlPages({ ...dependencies, saml, sessions: service }, tools)),
  });
}
