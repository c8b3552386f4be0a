import type { HttpMethod, RequestSpec } from "./request-spec.ts";
import type { TextTemplate, ValueTemplate } from "./template.ts";

/** How requests to a provider are authenticated. */
export const authModes = [
  "oauth2",
  "oauth2_cc",
  "api_key",
  "basic",
  "two_step",
  "jwt",
  "signed_jwt",
  "aws_sigv4",
  "none",
] as const;
export type AuthMode = (typeof authModes)[number];

/** A value that is asked for when an account is connected. */
export interface FieldSpec {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Whether forms hide the value. Settings are never secret. */
  readonly secret: boolean;
  readonly required: boolean;
  readonly multiline: boolean;
  /** A regular expression (RE2) that values match. */
  readonly pattern: string | undefined;
  readonly choices: readonly string[] | undefined;
  readonly example: string;
  readonly default: string | undefined;
  /** Whether a value matches the pattern and is one of the choices. It takes linear time. */
  accepts(value: string): boolean;
}

/** Where credentials go in a request. */
export interface ApplySpec {
  readonly headers: readonly (readonly [name: TextTemplate, value: TextTemplate])[];
  readonly query: readonly (readonly [name: string, value: TextTemplate])[];
  /** Replaces the provider's base URL, for providers that have a secret in the path. */
  readonly baseUrl: TextTemplate | undefined;
}

/** The token endpoint of OAuth 2. Pointers locate the values in its answer. */
export interface TokenEndpoint {
  readonly url: TextTemplate;
  readonly clientAuth: "basic" | "body" | "private_key_jwt" | "none";
  readonly format: "form" | "json";
  readonly headers: readonly (readonly [name: string, value: TextTemplate])[];
  readonly params: readonly (readonly [name: string, value: TextTemplate])[];
  /** A pointer to the error code in answers with status 200. */
  readonly errorIn2xx: string | undefined;
  readonly pointers: {
    readonly accessToken: string;
    readonly refreshToken: string;
    readonly expiresIn: string;
    readonly scope: string;
  };
}

/** How long an access token is valid. */
export interface TokenExpiry {
  /** Used if the answer does not say; undefined if the token does not expire then. */
  readonly defaultS: number | undefined;
  readonly unit: "s" | "ms";
}

/** The request that identifies the connected account, and the values to keep from its answer. */
export interface AccountProbe {
  readonly request: RequestSpec;
  /** Points to the list of accounts, whose items have the other pointers; undefined if the answer is one account. */
  readonly items: string | undefined;
  /** A pointer into the answer, or a text such as an id that the callback had. */
  readonly id: string | TextTemplate;
  readonly label: string | undefined;
  /** Further values to capture, as pointers. */
  readonly captured: ReadonlyMap<string, string>;
}

export interface OAuth2Auth {
  readonly mode: "oauth2";
  readonly fields: readonly FieldSpec[];
  /** Values of the provider config besides client_id, client_secret and private_key. */
  readonly config: readonly FieldSpec[];
  readonly authorize: {
    readonly url: TextTemplate;
    readonly scopeSeparator: string;
    readonly scopeParam: string;
    readonly params: readonly (readonly [name: string, value: TextTemplate])[];
    /** The `iss` of callbacks (RFC 9207), for providers that send it. */
    readonly issuer: TextTemplate | undefined;
  };
  readonly token: TokenEndpoint;
  readonly scopes: {
    readonly default: readonly string[];
    readonly available: ReadonlyMap<string, string>;
  };
  readonly pkce: { readonly mode: "S256" } | { readonly mode: "none"; readonly reason: string };
  readonly refresh: {
    /** rotate: each refresh returns a new refresh token. reuse: the token stays. none: access tokens do not expire. */
    readonly mode: "rotate" | "reuse" | "none";
    readonly url: TextTemplate | undefined;
    /** The refresh token ends when it is not used for this long. */
    readonly idleS: number | undefined;
    /** The refresh token ends after this time in any case. */
    readonly lifetimeS: number | undefined;
    /** How long a spent refresh token is still accepted. */
    readonly graceS: number;
  };
  readonly expires: TokenExpiry;
  /** Values to keep from the token answer, as pointers. */
  readonly captured: ReadonlyMap<string, string>;
  /** Values to keep from the query of the callback, as parameter names. */
  readonly capturedQuery: ReadonlyMap<string, string>;
  readonly revoke:
    | {
        readonly url: TextTemplate;
        readonly clientAuth: "basic" | "body" | "none";
        readonly token: "access_token" | "refresh_token";
      }
    | undefined;
  readonly account: AccountProbe | undefined;
  readonly apply: ApplySpec;
}

/** OAuth 2 with client credentials: tokens are fetched without an end user. */
export interface OAuth2ClientAuth
  extends Pick<OAuth2Auth, "fields" | "token" | "scopes" | "expires" | "captured" | "account" | "apply"> {
  readonly mode: "oauth2_cc";
  readonly scopeSeparator: string;
}

export interface ApiKeyAuth {
  readonly mode: "api_key";
  readonly fields: readonly FieldSpec[];
  readonly account: AccountProbe | undefined;
  readonly apply: ApplySpec;
}

export interface BasicAuth {
  readonly mode: "basic";
  readonly fields: readonly FieldSpec[];
  readonly username: TextTemplate;
  readonly password: TextTemplate;
  readonly account: AccountProbe | undefined;
}

/** A login request exchanges the fields for a token of limited validity. */
export interface TwoStepAuth {
  readonly mode: "two_step";
  readonly fields: readonly FieldSpec[];
  readonly token: {
    readonly method: HttpMethod;
    readonly url: TextTemplate;
    readonly headers: ValueTemplate | undefined;
    readonly body: { readonly kind: "json" | "form"; readonly value: ValueTemplate } | undefined;
    /** A pointer to the token in the answer. */
    readonly token: string;
    readonly expiresIn: string | undefined;
    readonly expires: TokenExpiry;
  };
  readonly captured: ReadonlyMap<string, string>;
  readonly account: AccountProbe | undefined;
  readonly apply: ApplySpec;
}

/** A signed assertion is exchanged for a token (RFC 7523). */
export interface JwtAuth {
  readonly mode: "jwt";
  readonly fields: readonly FieldSpec[];
  readonly token: {
    readonly url: TextTemplate;
    readonly audience: TextTemplate;
    readonly issuer: TextTemplate;
    readonly grant: string;
    readonly algorithm: "RS256" | "ES256";
    readonly lifetimeS: number;
    readonly claims: readonly (readonly [name: string, value: TextTemplate])[];
    readonly expires: TokenExpiry;
  };
  readonly scopes: OAuth2Auth["scopes"];
  readonly account: AccountProbe | undefined;
  readonly apply: ApplySpec;
}

/** Requests carry a JWT that the service signs itself (APNs). The fields have the private_key. */
export interface SignedJwtAuth {
  readonly mode: "signed_jwt";
  readonly fields: readonly FieldSpec[];
  readonly algorithm: "RS256" | "ES256";
  /** The `kid` of the header. */
  readonly keyId: TextTemplate | undefined;
  readonly issuer: TextTemplate;
  readonly claims: readonly (readonly [name: string, value: TextTemplate])[];
  /** How long one token is used. Providers limit how often it may change. */
  readonly lifetimeS: number;
  readonly account: AccountProbe | undefined;
  readonly apply: ApplySpec;
}

/** AWS Signature Version 4. The fields are access_key_id, secret_access_key and optionally session_token. */
export interface AwsSigV4Auth {
  readonly mode: "aws_sigv4";
  readonly fields: readonly FieldSpec[];
  readonly service: string;
  readonly region: TextTemplate;
  readonly account: AccountProbe | undefined;
}

export interface NoAuth {
  readonly mode: "none";
  readonly fields: readonly FieldSpec[];
}

/** The specification of one authentication mode. */
export type AuthSpec =
  | OAuth2Auth
  | OAuth2ClientAuth
  | ApiKeyAuth
  | BasicAuth
  | TwoStepAuth
  | JwtAuth
  | SignedJwtAuth
  | AwsSigV4Auth
  | NoAuth;
