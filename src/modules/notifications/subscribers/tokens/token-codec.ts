import type { TenantId } from "../../../../platform/access/index.ts";
import type { Signer } from "../../../../platform/crypto/index.ts";
import { isUlid } from "../../../../platform/ids/ulid.ts";

/** The content of a token. */
export interface TokenClaims {
  readonly tenantId: TenantId;
  readonly subscriberId: string;
  /** How often the subscriber's tokens had been revoked when the token was created. */
  readonly revocations: number;
  readonly expiresAtS: number;
  /** Tells apart the tokens of a subscriber. */
  readonly id: string;
}

/** The prefix of every token, so that people and scanners recognise one. */
const prefix = "sst_";
const form = /^sst_([0-9A-Z]{26})_([0-9A-Z]{26})_(\d{1,10})_(\d{1,12})_([0-9A-Z]{26})_([\w-]{22})$/;

/** Whether a credential is meant to be a subscriber token. */
export function isSubscriberToken(text: string): boolean {
  return text.startsWith(prefix);
}

/** Writes a signed token. */
export function encodeToken(signer: Signer, claims: TokenClaims): string {
  const { tenantId, subscriberId, revocations, expiresAtS, id } = claims;
  const signed = `${prefix}${tenantId}_${subscriberId}_${revocations}_${expiresAtS}_${id}`;
  return `${signed}_${signer.sign(signed).toString("base64url")}`;
}

/** Reads a token; undefined if it was not signed with this key. */
export function decodeToken(signer: Signer, token: string): TokenClaims | undefined {
  const [, tenantId = "", subscriberId = "", revocations, expiresAtS, id = "", signature = ""] = form.exec(token) ?? [];
  const signed = token.slice(0, -signature.length - 1);
  if (!signer.verify(signed, Buffer.from(signature, "base64url"))) return undefined;
  if (!isUlid(tenantId) || !isUlid(subscriberId)) return undefined;
  return {
    tenantId: tenantId as TenantId,
    subscriberId,
    revocations: Number(revocations),
    expiresAtS: Number(expiresAtS),
    id,
  };
}
