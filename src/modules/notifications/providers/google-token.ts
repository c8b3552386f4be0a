import { importPKCS8, SignJWT } from "jose";
import { canonicalJson, createKeyedDigest } from "../../../platform/crypto/index.ts";
import { failed, type SendFailure } from "./domain/failure.ts";
import { type HttpParts, jsonOf, post } from "./http-send.ts";

/** Who asks for a token, and where. */
export interface ServiceAccount {
  readonly clientEmail: string;
  readonly privateKey: string;
  readonly tokenUrl: string;
}

interface Kept {
  readonly token: Promise<string | SendFailure>;
  expiresAtMs: number;
}

const scope = "https://www.googleapis.com/auth/firebase.messaging";
const assertionS = 3600;
/** A token is asked for again this long before it ends. */
const earlyMs = 60_000;
const keptMax = 1000;

/** Makes the keeper of tokens: one for each account, asked for by one caller while the others wait for it. */
export function createTokens(parts: HttpParts) {
  const digest = createKeyedDigest();
  const kept = new Map<string, Kept>();

  async function ask(account: ServiceAccount, entry: { expiresAtMs: number }): Promise<string | SendFailure> {
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
      return failed("refresh_failed", "The private key does not sign.");
    }
    const grant = { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion };
    const answer = await post(parts, {
      url: tokenUrl,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(grant).toString(),
      // Not the caller's: others wait for the same token.
      signal: new AbortController().signal,
      // Nothing is sent by asking: it may be repeated, whatever came of it.
      idempotent: true,
    });
    if ("kind" in answer) {
      if (answer.phase === "egress") return answer;
      const detail = `No token was given: ${answer.detail}`;
      return failed("refresh_failed", detail, { retryable: answer.retryable, failover: true });
    }
    const { access_token, expires_in } = jsonOf(answer);
    if (typeof access_token !== "string" || !/^[\x21-\x7e]+$/.test(access_token)) {
      return failed("refresh_failed", "The answer holds no token.");
    }
    entry.expiresAtMs = parts.now() + (typeof expires_in === "number" ? expires_in : assertionS) * 1000;
    return access_token;
  }

  function renew(key: string, account: ServiceAccount): Promise<string | SendFailure> {
    const entry = { expiresAtMs: Number.POSITIVE_INFINITY };
    const token = ask(account, entry).catch(() => failed("internal", "No token could be asked for."));
    const keeping = Object.assign(entry, { token });
    if (kept.size >= keptMax) kept.clear();
    kept.set(key, keeping);
    void token.then((given) => {
      if (typeof given !== "string" && kept.get(key) === keeping) kept.delete(key);
    });
    return token;
  }

  return {
    /** A token that is good for a while; `refused` is one that is not, whatever was said about it. */
    async tokenFor(account: ServiceAccount, refused?: string): Promise<string | SendFailure> {
      const key = digest(canonicalJson(account));
      const found = kept.get(key);
      if (found === undefined || found.expiresAtMs - earlyMs <= parts.now()) return renew(key, account);
      const token = await found.token;
      if (token !== refused) return token;
      // Whoever comes first renews it; the others find what it got.
      const current = kept.get(key);
      return current === undefined || current === found ? renew(key, account) : current.token;
    },
  };
}
