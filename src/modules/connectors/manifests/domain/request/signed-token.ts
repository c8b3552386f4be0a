import { signJwt } from "../../../../../platform/crypto/index.ts";
import type { SignedJwtAuth } from "../language/auth/modes.ts";
import { RenderError, type RequestValues, requireText } from "./values.ts";

/** The clock of a provider may be this far behind. */
const clockSkewS = 60;

/** Adds the token that the service signs as the credential `access_token`. */
export function withSignedToken(auth: SignedJwtAuth, values: RequestValues): RequestValues {
  const { algorithm, lifetimeS } = auth;
  const { credentials } = values.account;
  const claims = auth.claims.map(([name, template]) => [name, requireText(template, values)] as const);
  const token = sign({
    algorithm,
    keyId: auth.keyId && requireText(auth.keyId, values),
    claims: {
      iss: requireText(auth.issuer, values),
      // Rounded, so that a token is used for its lifetime.
      iat: Math.floor(values.nowMs / 1000 / lifetimeS) * lifetimeS - clockSkewS,
      ...Object.fromEntries(claims),
    },
  });
  return { ...values, account: { ...values.account, credentials: { ...credentials, access_token: token } } };

  function sign(parts: Parameters<typeof signJwt>[0]): string {
    try {
      return signJwt(parts, credentials.private_key ?? "");
    } catch {
      throw new RenderError("invalid_value", "credentials.private_key", "must be a private key in PEM format");
    }
  }
}
