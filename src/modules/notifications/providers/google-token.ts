import { importPKCS8, SignJWT } from "jose";
import { BoundedCache } from "../../../platform/cache/bounded-cache.ts";
import { canonicalJson, createKeyedDigest } from "../../../platform/crypto/index.ts";
import { failed, type SendFailure } from "./domain/failure.ts";
import { type HttpParts, jsonOf, post } from "./http-send.ts";

/** A service account and its token endpoint. */
export interface ServiceAccount {
  readonly clientEmail: string;
  readonly privateKey: string;
  readonly tokenUrl: string;
}

interface CachedToken {
  readonly token: Promise<string | SendFailure>;
  expiresAtMs: number;
}

const scope = "https://www.googleapis.com/auth/firebase.messaging";
const assertionS = 3600;
/** Tokens are renewed this long before they expire. */
const renewBeforeMs = 60_000;
const cachedTokensMax = 1000;

/** Creates the token cache: one token per account. Concurrent callers share one token request. */
export function createTokenCache(parts: HttpParts) {
  const digest = createKeyedDigest();
  const cache = new BoundedCache<string, CachedToken>(cachedTokensMax);

  async function requestToken(account: ServiceAccount, entry: { expiresAtMs: number }): Promise<string | SendFailure> {
    const { clientEmail, privateKey, tokenUrl } = account;
    const issuedAtS = Math.floor(parts.now() / 1000);
    let assertion: string;
    try {
      assertion = await new SignJWT({ scope })
        .setProtectedHeader({ alg: "RS256", typ: "JWT" })
        .setIssuer(clientEmail)
        .setAudience(tokenUrl)
        .setIssuedAt(issuedAtS)
        .setExpirationTime(issuedAtS + assertionS)
        .sign(await importPKCS8(privateKey, "RS256"));
    } catch {
      return failed("refresh_failed", "The private key cannot sign.");
    }
    const grant = { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion };
    const response = await post(parts, {
      url: tokenUrl,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(grant).toString(),
      // Not the caller's signal, because other callers wait for the same token.
      signal: new AbortController().signal,
      // A token request sends no message, so it can always be repeated.
      idempotent: true,
    });
    if ("kind" in response) {
      if (response.phase === "egress") return response;
      const detail = `The token request failed: ${response.detail}`;
      return failed("refresh_failed", detail, { retryable: response.retryable, failover: true });
    }
    const { access_token, expires_in } = jsonOf(response);
    if (typeof access_token !== "string" || !/^[\x21-\x7e]+$/.test(access_token)) {
      return failed("refresh_failed", "The token response contains no token.");
    }
    entry.expiresAtMs = parts.now() + (typeof expires_in === "number" ? expires_in : assertionS) * 1000;
    return access_token;
  }

  function renew(key: string, account: ServiceAccount): Promise<string | SendFailure> {
    const entry = { expiresAtMs: Number.POSITIVE_INFINITY };
    const token = requestToken(account, entry).catch(() =>
      failed("internal", "The token request failed inside the service."),
    );
    const cached = Object.assign(entry, { token });
    cache.set(key, cached);
    void token.then((given) => {
      if (typeof given !== "string" && cache.get(key) === cached) cache.delete(key);
    });
    return token;
  }

  return {
    /** Returns a valid token. `refused` is a token that the provider rejected, so it is renewed. */
    async tokenFor(account: ServiceAccount, refused?: string): Promise<string | SendFailure> {
      const key = digest(canonicalJson(account));
      const found = cache.get(key);
      if (found === undefined || found.expiresAtMs - renewBeforeMs <= parts.now()) return renew(key, account);
      const token = await found.token;
      if (token !== refused) return token;
      // The first caller renews the token; later callers find the new one.
      const current = cache.get(key);
      return current === undefined || current === found ? renew(key, account) : current.token;
    },
  };
}
