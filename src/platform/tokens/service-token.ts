import { type JWTPayload, jwtVerify, SignJWT } from "jose";
import { fail } from "../../errors/index.ts";
import { isSubject } from "./subject.ts";

export const serviceTokenAudience = "service.internal";
const lifetimeSMax = 300;

/** The claims of a service token: the calling service and the tenant. */
export interface ServiceTokenClaims extends JWTPayload {
  readonly sub: string;
  readonly tenant_id: string;
}

/** Verifies an HS256 service token; throws UNAUTHENTICATED for an invalid one or a lifetime above five minutes. */
export async function verifyServiceToken(token: string, secret: string): Promise<ServiceTokenClaims> {
  try {
    const { payload } = await jwtVerify(token, new TextEncoder().encode(secret), {
      algorithms: ["HS256"],
      audience: serviceTokenAudience,
      requiredClaims: ["iss", "sub", "exp", "tenant_id"],
      clockTolerance: 5,
    });
    if (payload.exp! - Date.now() / 1000 > lifetimeSMax + 5)
      throw new Error("The token's lifetime is longer than five minutes.");
    if (!isSubject(payload.sub)) throw new Error("The subject is empty, too long or not storable.");
    if (typeof payload.tenant_id !== "string") throw new Error("The claim tenant_id is not a string.");
    return payload as ServiceTokenClaims;
  } catch (cause) {
    throw fail("UNAUTHENTICATED", { public: "The service token is not valid for this service.", cause });
  }
}

/** Creates a service token for calls to the internal plane. */
export async function signServiceToken(
  { issuer, subject, tenantId }: { issuer: string; subject: string; tenantId: string },
  secret: string,
): Promise<string> {
  return new SignJWT({ tenant_id: tenantId })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setIssuer(issuer)
    .setSubject(subject)
    .setAudience(serviceTokenAudience)
    .setIssuedAt()
    .setExpirationTime("5m")
    .sign(new TextEncoder().encode(secret));
}
