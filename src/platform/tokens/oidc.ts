import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from "jose";
import { fail } from "../../errors/index.ts";

/** Checks tokens of one OpenID Connect issuer. */
export interface OidcVerifier {
  /** The claims of a good token; throws UNAUTHENTICATED for any other. */
  verify(token: string): Promise<JWTPayload>;
}

interface Settings {
  readonly issuer: string;
  readonly audience: string;
}

const algorithms = ["RS256", "ES256", "EdDSA"];
const clockToleranceS = 5;

/** Verifies against the issuer's published keys: fetched at first use, kept, and fetched again for an unknown key id. */
export function createOidcVerifier({ issuer, audience }: Settings): OidcVerifier {
  let keys: Promise<ReturnType<typeof createRemoteJWKSet>> | undefined;

  const keySet = () => {
    keys ??= discover(issuer).catch((error) => {
      keys = undefined;
      throw error;
    });
    return keys;
  };

  return {
    async verify(token) {
      try {
        const { payload } = await jwtVerify(token, await keySet(), {
          issuer,
          audience,
          algorithms,
          clockTolerance: clockToleranceS,
          requiredClaims: ["exp", "sub"],
        });
        return payload;
      } catch (cause) {
        throw refusal(cause);
      }
    },
  };
}

async function discover(issuer: string): Promise<ReturnType<typeof createRemoteJWKSet>> {
  const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const response = await fetch(address, { signal: AbortSignal.timeout(5000), redirect: "error" });
  if (!response.ok) throw new Error(`The issuer answered ${response.status} at ${address}.`);
  const { jwks_uri: keysAddress, issuer: named } = (await response.json()) as { jwks_uri: string; issuer: string };
  if (named !== issuer) throw new Error(`The issuer calls itself ${named}.`);
  // An unknown key id is looked up at once after a rotation, but a forger cannot have us ask more than every few seconds.
  return createRemoteJWKSet(new URL(keysAddress), {
    cooldownDuration: 2000,
    cacheMaxAge: 600_000,
    timeoutDuration: 5000,
  });
}

function refusal(cause: unknown) {
  // What the issuer does not answer is no fault of the caller.
  if (!(cause instanceof errors.JOSEError) || cause instanceof errors.JWKSTimeout) {
    return fail("UNAVAILABLE", { public: "The token cannot be checked now: its issuer does not answer.", cause });
  }
  const expired = cause instanceof errors.JWTExpired;
  return fail("UNAUTHENTICATED", {
    public: expired ? "The token is expired." : "The token is not valid here.",
    cause,
    headers: { "www-authenticate": 'Bearer error="invalid_token"' },
  });
}
