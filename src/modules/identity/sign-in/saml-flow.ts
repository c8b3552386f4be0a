import type { ExternalPerson, SamlConnection } from "../connections/index.ts";

/** A SAML response that was verified. */
export interface VerifiedResponse {
  readonly person: ExternalPerson;
  /** The request that it answers; undefined if the identity provider started the sign-in. */
  readonly inResponseTo: string | undefined;
  /** The id of the assertion, which is accepted once. */
  readonly assertionId: string;
  /** When the assertion expires. */
  readonly expiresAt: Date;
}

/** A sign-out at the identity provider. */
export type SignOutMessage =
  | { readonly kind: "response" }
  | {
      readonly kind: "request";
      /** Selects the sessions to end. */
      readonly providerData: Readonly<Record<string, string>>;
      /** Where the browser goes afterwards. */
      readonly answerUrl: string;
    };

/** Signs people in and out with SAML. Every method throws if a message is not valid. */
export interface SamlFlow {
  metadata(connection: SamlConnection): Promise<string>;
  /** The address at the identity provider where the browser signs in. */
  start(connection: SamlConnection, requestId: string): Promise<string>;
  receive(connection: SamlConnection, form: URLSearchParams): Promise<VerifiedResponse>;
  /** The address at the identity provider where the browser signs out; undefined if it has none. */
  signOut(connection: SamlConnection, providerData: Readonly<Record<string, string>>): Promise<string | undefined>;
  receiveSignOut(
    connection: SamlConnection,
    message: URLSearchParams,
    query: string | undefined,
  ): Promise<SignOutMessage>;
}
