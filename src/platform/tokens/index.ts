/** Tokens: OpenID Connect tokens of people, and service tokens of other parts of the deployment. */
export { createOidcVerifier, discoverKeys, type OidcVerifier } from "./oidc.ts";
export {
  type ServiceTokenClaims,
  serviceTokenAudience,
  signServiceToken,
  verifyServiceToken,
} from "./service-token.ts";
export { isStorable, isSubject } from "./subject.ts";
