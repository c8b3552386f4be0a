import { canonicalJson, type StatementKey, verifyStatement } from "../../../../platform/crypto/index.ts";
import { isJsonObject, type JsonObject } from "../../../../platform/document/index.ts";

/** A signed statement: a DSSE envelope with one signature. */
export interface Envelope {
  readonly payloadType: string;
  /** The statement as canonical JSON, in base64. */
  readonly payload: string;
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[];
}

/** A signed statement. */
export interface Signed {
  /** The statement as canonical JSON. */
  readonly statement: string;
  readonly digest: string;
  readonly keyId: string;
  readonly signature: string;
}

export function envelopeOf(payloadType: string, { statement, keyId, signature }: Omit<Signed, "digest">): Envelope {
  return {
    payloadType,
    payload: Buffer.from(statement).toString("base64"),
    signatures: [{ keyid: keyId, sig: signature }],
  };
}

/** The statement of an envelope, and the first of these keys that signed it; undefined if none did. */
export function openEnvelope<K extends StatementKey>(
  { payloadType, payload, signatures }: Envelope,
  keys: readonly K[],
): { readonly statement: JsonObject; readonly key: K } | undefined {
  const statement = parseStatement(payload);
  if (statement === undefined) return undefined;
  for (const { keyid, sig } of signatures) {
    const key = keys.find(({ id }) => id === keyid);
    if (key !== undefined && verifyStatement(payloadType, statement, sig, key)) return { statement, key };
  }
  return undefined;
}

/** Only canonical JSON is accepted, because the signature is over the canonical form. */
function parseStatement(payload: string): JsonObject | undefined {
  try {
    const text = Buffer.from(payload, "base64").toString("utf8");
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && canonicalJson(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}
