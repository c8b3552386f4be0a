import type { SsoConnection } from "./domain/connection.ts";

/** The addresses of a connection at this service. */
export interface ConnectionUrls {
  /** Where people start to sign in. */
  readonly signIn: string;
  /** The redirect URI of OIDC, the ACS URL of SAML. */
  readonly callback: string;
  /** The entity id and the address of the SAML metadata; empty for OIDC. */
  readonly metadata: string;
  /** Where the identity provider sends sign-outs; empty for OIDC. */
  readonly signOut: string;
}

/** The addresses of a connection. Every connection has its own, so that one provider cannot answer for another. */
export function connectionUrls({ id, kind }: Pick<SsoConnection, "id" | "kind">, publicUrl: string): ConnectionUrls {
  const signIn = `${publicUrl}/auth/start/${id}`;
  if (kind === "oidc") return { signIn, callback: `${publicUrl}/auth/callback/${id}`, metadata: "", signOut: "" };
  const base = `${publicUrl}/auth/saml/${id}`;
  return { signIn, callback: `${base}/acs`, metadata: `${base}/metadata`, signOut: `${base}/slo` };
}
