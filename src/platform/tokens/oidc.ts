import { createLocalJWKSet, createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import { fail } from "../../errors/index.ts";
import { isSubject } from "./subject.ts";

/** Checks tokens of one OpenID Connect issuer. */
export interface OidcVerifier {
  /** The claims of a good token; throws UNAUTHENTICATED for any other. */
  verify(token: string): Promise<OidcClaims>;
}

/** What a good token says; it always names a subject. */
export interface OidcClaims extends JWTPayload {
  readonly sub: string;
}

interface Settings {
  readonly issuer: string;
  readonly audience: string;
  /** How long the issuer's keys are used without asking again. */
  readonly keysFreshMs?: number;
}

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>;

const algorithms = ["RS256", "ES256", "EdDSA"];
const clockToleranceS = 5;
const patienceMs = 5000;
/** How long an issuer that did not answer is left alone, as long as its last keys will do. */
const retryMs = 2000;

/**
 * Verifies against the issuer's published keys: fetched at first use, kept, and fetched again for an unknown key id.
 * While the issuer does not answer, the keys that it published last still count.
 */
export function createOidcVerifier({ issuer, audience, keysFreshMs = 600_000 }: Settings): OidcVerifier {
  let discovered: Promise<RemoteKeys> | undefined;
  let failedAtMs = Number.NEGATIVE_INFINITY;

  const remoteKeys = () => {
    discovered ??= discover(issuer, keysFreshMs).catch((cause) => {
      discovered = undefined;
      throw new Outage({ cause });
    });
    return discovered;
  };

  async function claimsOf(token: string, keys: JWTVerifyGetKey): Promise<OidcClaims> {
    const rules = { issuer, audience, algorithms, clockTolerance: clockToleranceS, requiredClaims: ["exp", "sub"] };
    const { payload } = await jwtVerify(token, keys, rules);
    if (!isSubject(payload.sub)) throw new Error("The subject names nobody.");
    return payload as OidcClaims;
  }

  /** The keys that the issuer publishes now or, while it does not answer, those that it published last. */
  function keysInForce(keys: RemoteKeys): JWTVerifyGetKey {
    return async (header, token) => {
      const last = keys.jwks();
      try {
        if (last === undefined || performance.now() - failedAtMs >= retryMs) return await keys(header, token);
      } catch (cause) {
        if (isAboutToken(cause)) throw cause;
        failedAtMs = performance.now();
        if (last === undefined) throw new Outage({ cause });
      }
      return createLocalJWKSet(last!)(header, token).catch((cause) => {
        // It may be a new key of the issuer's: nobody can tell now.
        throw cause instanceof errors.JWKSNoMatchingKey ? new Outage({ cause }) : cause;
      });
    };
  }

  return {
    async verify(token) {
      try {
        return await claimsOf(token, keysInForce(await remoteKeys()));
      } catch (cause) {
        throw refusal(cause);
      }
    },
  };
}

/** Asks an issuer where its keys are; throws when it does not answer in time or not for itself. */
export async function discoverKeys(issuer: string, withinMs: number): Promise<string> {
  const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const response = await fetch(address, { signal: AbortSignal.timeout(withinMs), redirect: "error" });
  if (!response.ok) throw new Error(`The issuer answered ${response.status} at ${address}.`);
  const { jwks_uri: keysAddress, issuer: named } = (await response.json()) as { jwks_uri: string; issuer: string };
  if (named !== issuer) throw new Error(`The issuer calls itself ${named}.`);
  return keysAddress;
}

async function discover(issuer: string, keysFreshMs: number): Promise<RemoteKeys> {
  const keysAddress = await discoverKeys(issuer, patienceMs);
  // An unknown key id is looked up at once after a rotation, but a forger cannot have us ask more than every few seconds.
  return createRemoteJWKSet(new URL(keysAddress), {
    cooldownDuration: 2000,
    cacheMaxAge: keysFreshMs,
    timeoutDuration: patienceMs,
  });
}

/** The issuer is to blame: it is not reached, or answers with something that holds no keys. */
class Outage extends Error {
  constructor(options: ErrorOptions) {
    super("The issuer does not answer.", options);
  }
}

/** Whether a token names a key that the issuer has not got, rather than that its keys could not be had. */
function isAboutToken(cause: unknown): boolean {
  return [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported].some(
    (kind) => cause instanceof kind,
  );
}

function refusal(cause: unknown) {
  // What the issuer does not answer is no fault of the caller.
  if (cause instanceof Outage) {
    return fail("UNAVAILABLE", { public: "The token cannot be checked now: its issuer does not answer.", cause });
  }
  const expired = cause instanceof errors.JWTExpired;
  return fail("UNAUTHENTICATED", {
    public: expired ? "The token is expired." : "The token is not valid here.",
    cause,
  });
}
