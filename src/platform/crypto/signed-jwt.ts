import { createHash, sign } from "node:crypto";
import { BoundedCache } from "../cache/bounded-cache.ts";

export interface JwtParts {
  readonly algorithm: "RS256" | "ES256";
  readonly keyId: string | undefined;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** The tokens in use. Some providers refuse tokens that change too often, and an ECDSA signature is never the same twice. */
const tokens = new BoundedCache<string, string>(1000);

/** Signs a JWT with a private key (PEM). The same parts give the same token. Throws if the key cannot sign. */
export function signJwt({ algorithm, keyId, claims }: JwtParts, privateKey: string): string {
  const header = { alg: algorithm, typ: "JWT", ...(keyId !== undefined && { kid: keyId }) };
  const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  const cacheKey = createHash("sha256").update(signed).update(privateKey).digest("base64");
  return tokens.getOrCreate(cacheKey, () => {
    // The encoding concerns ECDSA only.
    const signature = sign("sha256", Buffer.from(signed), { key: privateKey, dsaEncoding: "ieee-p1363" });
    return `${signed}.${signature.toString("base64url")}`;
  });
}
