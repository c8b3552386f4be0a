import {
  createLocalJWKSet,
  createRemoteJWKSet,
  decodeJwt,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from "jose";
import { fail } from "../../errors/index.ts";
import { isSubject } from "./subject.ts";

/** Verifies tokens of OpenID Connect issuers. */
export interface OidcVerifier {
  /** Returns the claims of a valid token; throws UNAUTHENTICATED for an invalid one, UNAVAILABLE during an outage of the issuer. */
  verify(token: string): Promise<OidcClaims>;
}

/**
 * The claims of a valid token. The subject is always set, and names one person among those of all issuers: it is that of the
 * token for the first issuer, and begins with the URL of the issuer for others.
 */
export interface OidcClaims extends JWTPayload {
  readonly sub: string;
}

interface Settings {
  readonly issuers: readonly string[];
  /** The audiences of which tokens must have one. */
  readonly audiences: readonly string[];
  /** How long an issuer's keys are cached. */
  readonly keysMaxAgeMs?: number;
}

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>;

const algorithms = ["RS256", "ES256", "EdDSA"];
const clockToleranceS = 5;
const requestTimeoutMs = 5000;
/** How long an unavailable issuer is not contacted again while its cached keys can be used. */
const retryMs = 2000;

/** Creates a verifier for tokens of several issuers. Each has its own keys, so that an outage of one concerns only its own tokens. */
export function createOidcVerifier({ issuers, ...rest }: Settings): OidcVerifier {
  const verifiers = new Map(issuers.map((issuer) => [issuer, createIssuerVerifier({ ...rest, issuer })]));
  const [first, ...others] = issuers;
  return {
    async verify(token) {
      const issuer = issuerOf(token);
      const verifier = verifiers.get(issuer);
      if (verifier === undefined) throw toFailure(new Error("The token has no known issuer."));
      const claims = await verifier.verify(token);
      if (issuer === first) {
        if (!others.some((other) => claims.sub.startsWith(`${other}|`))) return claims;
        throw toFailure(new Error("The subject names a person of another issuer."));
      }
      const sub = `${issuer}|${claims.sub}`;
      if (!isSubject(sub)) throw toFailure(new Error("The subject is too long."));
      return { ...claims, sub };
    },
  };
}

/** The issuer that a token claims to be of; empty if it is no token. */
function issuerOf(token: string): string {
  try {
    return decodeJwt(token).iss ?? "";
  } catch {
    return "";
  }
}

/**
 * Creates a verifier that uses an issuer's published keys. Keys are fetched at first use, cached, and fetched again for an
 * unknown key id. While the issuer is unavailable, the cached keys stay valid.
 */
function createIssuerVerifier({
  issuer,
  audiences,
  keysMaxAgeMs = 600_000,
}: Omit<Settings, "issuers"> & { readonly issuer: string }): OidcVerifier {
  let discovered: Promise<RemoteKeys> | undefined;
  let failedAtMs = Number.NEGATIVE_INFINITY;

  const remoteKeys = () => {
    discovered ??= discover(issuer, keysMaxAgeMs).catch((cause) => {
      discovered = undefined;
      throw new IssuerUnavailableError({ cause });
    });
    return discovered;
  };

  async function claimsOf(token: string, keys: JWTVerifyGetKey): Promise<OidcClaims> {
    const audience = [...audiences];
    const rules = { issuer, audience, algorithms, clockTolerance: clockToleranceS, requiredClaims: ["exp", "sub"] };
    const { payload } = await jwtVerify(token, keys, rules);
    if (!isSubject(payload.sub)) throw new Error("The subject is empty, too long or not storable.");
    return payload as OidcClaims;
  }

  /** The issuer's current keys or, while the issuer is unavailable, the cached ones. */
  function withCachedKeys(keys: RemoteKeys): JWTVerifyGetKey {
    return async (header, token) => {
      const last = keys.jwks();
      try {
        if (last === undefined || performance.now() - failedAtMs >= retryMs) return await keys(header, token);
      } catch (cause) {
        if (isTokenFault(cause)) throw cause;
        failedAtMs = performance.now();
        if (last === undefined) throw new IssuerUnavailableError({ cause });
      }
      return createLocalJWKSet(last!)(header, token).catch((cause) => {
        // The issuer may have published a new key. This cannot be decided while it is unavailable.
        throw cause instanceof errors.JWKSNoMatchingKey ? new IssuerUnavailableError({ cause }) : cause;
      });
    };
  }

  return {
    async verify(token) {
      try {
        return await claimsOf(token, withCachedKeys(await remoteKeys()));
      } catch (cause) {
        throw toFailure(cause);
      }
    },
  };
}

/** Reads the JWKS URI from an issuer's discovery document; throws on a timeout or when the document names another issuer. */
export async function discoverJwksUri(issuer: string, withinMs: number): Promise<string> {
  const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const response = await fetch(address, { signal: AbortSignal.timeout(withinMs), redirect: "error" });
  if (!response.ok) throw new Error(`The issuer responded with status ${response.status} at ${address}.`);
  const { jwks_uri: keysAddress, issuer: named } = (await response.json()) as { jwks_uri: string; issuer: string };
  if (named !== issuer) throw new Error(`The discovery document names another issuer: ${named}.`);
  return keysAddress;
}

async function discover(issuer: string, keysMaxAgeMs: number): Promise<RemoteKeys> {
  const keysAddress = await discoverJwksUri(issuer, requestTimeoutMs);
  // A new key id is fetched soon after a rotation, but forged key ids cannot cause more than one request every two seconds.
  return createRemoteJWKSet(new URL(keysAddress), {
    cooldownDuration: 2000,
    cacheMaxAge: keysMaxAgeMs,
    timeoutDuration: requestTimeoutMs,
  });
}

/** The issuer is unreachable, or its response contains no keys. */
class IssuerUnavailableError extends Error {
  constructor(options: ErrorOptions) {
    super("The issuer is unavailable.", options);
  }
}

/** Whether the token is at fault (it names an unknown key), rather than the retrieval of the issuer's keys. */
function isTokenFault(cause: unknown): boolean {
  return [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported].some(
    (kind) => cause instanceof kind,
  );
}

function toFailure(cause: unknown) {
  // An outage of the issuer is not the caller's fault.
  if (cause instanceof IssuerUnavailableError) {
    return fail("UNAVAILABLE", {
      public: "The token cannot be verified at the moment: its issuer is unavailable.",
      cause,
    });
  }
  const expired = cause instanceof errors.JWTExpired;
  return fail("UNAUTHENTICATED", {
    public: expired ? "The token has expired." : "The token is not valid for this service.",
    cause,
  });
}
