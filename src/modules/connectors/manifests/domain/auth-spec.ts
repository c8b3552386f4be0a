import type { AuthOf } from "./language/auth/modes.ts";

export type { AccountProbe, ApplySpec, TokenEndpoint, TokenExpiry } from "./language/auth/auth-members.ts";
export type { AuthMode, AuthSpec } from "./language/auth/modes.ts";
export type { FieldSpec } from "./language/fields.ts";

export type OAuth2Auth = AuthOf<"oauth2">;
export type OAuth2ClientAuth = AuthOf<"oauth2_cc">;
export type ApiKeyAuth = AuthOf<"api_key">;
export type BasicAuth = AuthOf<"basic">;
export type TwoStepAuth = AuthOf<"two_step">;
export type JwtAuth = AuthOf<"jwt">;
export type SignedJwtAuth = AuthOf<"signed_jwt">;
export type AwsSigV4Auth = AuthOf<"aws_sigv4">;
export type NoAuth = AuthOf<"none">;
