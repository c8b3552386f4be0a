import { fail } from "../../../../errors/index.ts";
import type { Keyring } from "../../../../platform/crypto/index.ts";
import type { ProvenGrant } from "../../connections/index.ts";
import type { ExpectedIssuer } from "../domain/callback-check.ts";
import { bindingOf, type OpenSession } from "../domain/connect-session.ts";

/** The values of an authorization at a provider, fixed when it starts. */
export interface AuthorizationValues extends ExpectedIssuer {
  readonly kind: "authorization";
  /** Undefined without PKCE. */
  readonly codeVerifier: string | undefined;
  readonly redirectUri: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Further fields that the manifest asks for. */
  readonly credentials: Readonly<Record<string, string>>;
  /** The requested scopes. */
  readonly scopes: readonly string[];
}

/** A callback that awaits completion: its code is exchanged afterwards. */
export interface HeldCallback extends Omit<AuthorizationValues, "kind"> {
  readonly kind: "callback";
  readonly code: string;
  /** Values that the manifest keeps from the callback's query. */
  readonly captured: Readonly<Record<string, string>>;
}

/** Credentials that the provider has accepted and that await completion. */
export interface HeldGrant {
  readonly kind: "grant";
  readonly grant: ProvenGrant;
}

/** The sealed values of a session. Never log them. */
export type SealedValues = AuthorizationValues | HeldCallback | HeldGrant;

type Session = Pick<OpenSession, "tenantId" | "id">;

/** Encrypts values of a session. */
export function sealValues(keyring: Keyring | undefined, session: Session, values: SealedValues): string {
  if (keyring === undefined) throw fail("INTERNAL", { cause: new Error("The instance has no master key.") });
  return keyring.seal(JSON.stringify(values), bindingOf(session));
}

/** Decrypts the values of a session; undefined if it has none, or if they cannot be decrypted. */
export function openValues(
  keyring: Keyring | undefined,
  session: Session & Pick<OpenSession, "ciphertext">,
): SealedValues | undefined {
  if (keyring === undefined || session.ciphertext === "") return undefined;
  try {
    const values = JSON.parse(keyring.open(session.ciphertext, bindingOf(session))) as SealedValues;
    if (values.kind !== "grant") return values;
    const { expiresAt } = values.grant;
    return { ...values, grant: { ...values.grant, expiresAt: expiresAt === null ? null : new Date(expiresAt) } };
  } catch {
    return undefined;
  }
}
