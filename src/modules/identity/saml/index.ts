/**
 * SAML: this service as a service provider (SAML 2.0).
 *
 * Identity provider: signs people in. Response: its message, which contains one assertion. Assertion: says who signed in, signed.
 * ACS: where responses arrive. Entity id: the name of this service, one for each connection. Replay: a message that comes again.
 */

import { type RetentionDependencies, retentionJob } from "../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../area.ts";
import { bindingOf, type ConnectionUrls, type ExternalPerson, type SamlConnection } from "../connections/index.ts";
import type { AssertionContent } from "./assertion.ts";
import { metadataOf } from "./metadata.ts";

export { seenMessageStore } from "./store.ts";

/** A SAML response that was verified. */
export interface VerifiedResponse {
  readonly person: ExternalPerson;
  /** The request that it answers; undefined if the identity provider started the sign-in. */
  readonly inResponseTo: string | undefined;
  /** The id of the assertion, which is accepted once. */
  readonly assertionId: string;
  readonly expiresAt: Date;
}

/** A sign-out that the identity provider asks for. */
export interface SignOutOrder {
  readonly id: string;
  /** Selects the sessions to end. */
  readonly providerData: Readonly<Record<string, string>>;
  readonly expiresAt: Date;
}

/** Signs people in and out with SAML. Every method throws if a message is not valid. */
export type Saml = ReturnType<typeof createSamlFlow>;

interface Dependencies extends Pick<PlatformServices, "clock" | "keyring"> {
  readonly skewMs: number;
  readonly urlsOf: (connection: SamlConnection) => ConnectionUrls;
}

const groupsMax = 500;

/** Creates the flow. The library is loaded on first use, because it and its parsers take memory that most nodes do not need. */
export function createSamlFlow({ clock, keyring, skewMs, urlsOf }: Dependencies) {
  const load = () => import("./response-verifier.ts");

  function selfOf(connection: SamlConnection) {
    if (keyring === undefined) throw new Error("The key of SAML cannot be opened without connector.encryption_key.");
    const { callback, metadata } = urlsOf(connection);
    const privateKey = keyring.open(connection.ciphertext, bindingOf(connection));
    return { entityId: metadata, acsUrl: callback, privateKey };
  }

  return {
    metadata(connection: SamlConnection): string {
      const { callback, metadata, signOut } = urlsOf(connection);
      const certificate = connection.settings.ownCertificate;
      return metadataOf({ entityId: metadata, acsUrl: callback, sloUrl: signOut, certificate });
    },

    /** The address at the identity provider where the browser signs in. */
    async start(connection: SamlConnection, requestId: string): Promise<string> {
      const { createSaml } = await load();
      return createSaml(connection, selfOf(connection), { skewMs, requestId }).getAuthorizeUrlAsync("", undefined, {});
    },

    async receive(connection: SamlConnection, message: string): Promise<VerifiedResponse> {
      const { verifyResponse } = await load();
      const nowMs = clock.now();
      const { content, inResponseTo } = await verifyResponse(connection, selfOf(connection), message, {
        nowMs,
        skewMs,
      });
      return {
        person: personOf(content, connection),
        inResponseTo,
        assertionId: content.id,
        expiresAt: new Date(content.expiresAtMs),
      };
    },

    /** The address at the identity provider where the browser signs out; undefined if it has none. */
    async signOut(connection: SamlConnection, data: Readonly<Record<string, string>>): Promise<string | undefined> {
      if (connection.settings.sloUrl === "" || data.name_id === undefined) return undefined;
      const { createSaml } = await load();
      const user = {
        ...{ issuer: connection.settings.idpEntityId, nameID: data.name_id, nameIDFormat: data.name_id_format ?? "" },
        ...(data.session_index !== undefined && { sessionIndex: data.session_index }),
      };
      return createSaml(connection, selfOf(connection), { skewMs }).getLogoutUrlAsync(user, "", {});
    },

    /** Reads a signed request of the identity provider to sign somebody out. */
    async receiveSignOut(connection: SamlConnection, rawQuery: string): Promise<SignOutOrder> {
      const { readSignOutRequest } = await import("./sign-out-message.ts");
      const { signOut } = urlsOf(connection);
      const request = await readSignOutRequest(connection, rawQuery, signOut, { nowMs: clock.now(), skewMs });
      const providerData = {
        name_id: request.nameId,
        ...(request.sessionIndex !== "" && { session_index: request.sessionIndex }),
      };
      return { id: request.id, providerData, expiresAt: new Date(request.expiresAtMs) };
    },

    /** The address that tells the identity provider that somebody was signed out. */
    async confirmSignOut(connection: SamlConnection, requestId: string, relayState: string): Promise<string> {
      const { createSaml } = await load();
      const saml = createSaml(connection, selfOf(connection), { skewMs });
      const request = { ID: requestId };
      return new Promise((resolve, reject) => {
        saml.getLogoutResponseUrl(request, relayState, {}, true, (error, url) => {
          if (error !== null || url === undefined) reject(error);
          else resolve(url);
        });
      });
    },
  };
}

/** Creates the job that forgets messages that cannot be accepted any more. */
export const expiredMessagesJob = (dependencies: RetentionDependencies) =>
  retentionJob(dependencies, {
    ...{ kind: "identity.delete_expired_saml_messages", everyMs: 60_000, batchSize: 1000 },
    rows: [{ table: "saml_messages_seen", column: "expires_at" }],
  });

const emailAttributes = [
  "email",
  "mail",
  "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
  "urn:oid:0.9.2342.19200300.100.1.3",
];
const nameAttributes = ["displayName", "http://schemas.microsoft.com/identity/claims/displayname", "name"];
const groupAttributes = ["groups", "http://schemas.microsoft.com/ws/2008/06/identity/claims/groups"];

/** The person whom an assertion names. Without a setting, the names that Entra ID and Okta use are tried. */
function personOf(content: AssertionContent, { settings }: SamlConnection): ExternalPerson {
  const { attributes, nameId, nameIdFormat, sessionIndex } = content;
  const valuesOf = (chosen: string, usual: readonly string[]): readonly string[] =>
    (chosen === "" ? usual : [chosen]).flatMap((name) => attributes.get(name) ?? []);
  const email = valuesOf(settings.emailAttribute, emailAttributes)[0] ?? (nameId.includes("@") ? nameId : "");
  return {
    subject: nameId,
    email,
    // The tenant's administrator has chosen the identity provider, and its signature covers the address.
    isEmailVerified: email !== "",
    displayName: (valuesOf(settings.nameAttribute, nameAttributes)[0] ?? "").slice(0, 200),
    groups: valuesOf(settings.groupsAttribute, groupAttributes)
      .filter((each) => each !== "" && each.length <= 256)
      .slice(0, groupsMax),
    notAfterMs: content.sessionEndsAtMs,
    providerData: {
      ...{ name_id: nameId, name_id_format: nameIdFormat },
      ...(sessionIndex !== "" && { session_index: sessionIndex }),
    },
  };
}
