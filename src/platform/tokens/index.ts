/** Tokens: verification of OpenID Connect tokens of users, and of service tokens of other services in the deployment. */
export { createOidcVerifier, discoverJwksUri, type OidcVerifier } from "./oidc.ts";
export {
  type ServiceTokenClaims,
  serviceTokenAudience,
  signServiceToken,
  verifyServiceToken,
} from "./service-token.ts";
export { isStorable, isSubject } from "./subject.ts";
