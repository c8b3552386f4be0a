import { retryAfterMs } from "../../../../platform/backoff/retry-after.ts";
import type { Json } from "../../../../platform/document/index.ts";
import { parseForm, storableText } from "../../../../platform/text/index.ts";
import type { HttpAnswer, TokenEndpoint, TokenExpiry } from "../../manifests/index.ts";
import { valueAt } from "../../manifests/index.ts";

/** Where a token endpoint puts its values. */
export type TokenPointers = Pick<TokenEndpoint, "pointers" | "errorIn2xx">;

/** A token answer in the form of RFC 6749, whatever the provider sent. */
export type StandardAnswer =
  | { readonly kind: "standard"; readonly status: 200 | 400; readonly body: StandardBody; readonly original: Json }
  /** The provider cannot answer now. */
  | { readonly kind: "unavailable"; readonly code: string; readonly retryAfterMs: number | undefined }
  /** The answer is not one of a token endpoint. The code says what came. */
  | { readonly kind: "malformed"; readonly code: string };

const retryAfterMsMax = 3_600_000;

interface StandardBody {
  readonly access_token?: string;
  readonly token_type?: string;
  readonly refresh_token?: string;
  readonly expires_in?: number;
  readonly scope?: string;
  readonly error?: string;
}

/**
 * Converts the answer of a token endpoint to RFC 6749. Providers deviate: errors with status 200 (GitHub, Slack), bodies as
 * forms (GitHub), other token types (Slack), lifetimes as texts, and their own error codes.
 */
export function standardAnswer(
  { status, headers, body }: HttpAnswer,
  { pointers, errorIn2xx }: TokenPointers,
  { unit }: Pick<TokenExpiry, "unit">,
  nowMs: number,
): StandardAnswer {
  if (status === 429 || status >= 500) {
    const code = status === 429 ? "rate_limited" : `http_${status}`;
    return { kind: "unavailable", code, retryAfterMs: retryAfterMs(headers["retry-after"], nowMs, retryAfterMsMax) };
  }
  const original = parseBody(headers["content-type"] ?? "", body.toString("utf8"));
  const isSuccess = status >= 200 && status < 300;
  if (original === undefined) {
    return malformed(!isSuccess ? `http_${status}` : body.length === 0 ? "empty_answer" : "not_json");
  }
  const error = isSuccess ? errorInSuccess(original, errorIn2xx) : (errorCode(original) ?? `http_${status}`);
  if (error !== undefined) return { kind: "standard", status: 400, body: { error: standardError(error) }, original };
  const accessToken = textAt(original, pointers.accessToken);
  if (accessToken === undefined) {
    return malformed(valueAt(original, pointers.accessToken) === undefined ? "token_missing" : "token_not_text");
  }
  const refreshToken = textAt(original, pointers.refreshToken);
  const expiresIn = Number(valueAt(original, pointers.expiresIn) ?? Number.NaN);
  const scope = scopeText(valueAt(original, pointers.scope));
  return {
    kind: "standard",
    status: 200,
    body: {
      access_token: accessToken,
      // Slack names the kind of the token here; all of them are used as bearer tokens.
      token_type: "bearer",
      ...(refreshToken !== undefined && { refresh_token: refreshToken }),
      // A lifetime of zero means that the token does not expire.
      ...(expiresIn > 0 && { expires_in: unit === "ms" ? expiresIn / 1000 : expiresIn }),
      ...(scope !== undefined && { scope }),
    },
    original,
  };
}

function malformed(code: string): StandardAnswer {
  return { kind: "malformed", code };
}

function parseBody(contentType: string, text: string): Json | undefined {
  try {
    const parsed = JSON.parse(text) as Json;
    return typeof parsed === "object" && parsed !== null ? parsed : undefined;
  } catch {
    // GitHub answers with a form unless the request asks for JSON.
    if (!/^application\/x-www-form-urlencoded|^text\/plain/i.test(contentType)) return undefined;
    const form = Object.fromEntries(parseForm(text) ?? []);
    return "access_token" in form || "error" in form ? form : undefined;
  }
}

function errorInSuccess(answer: Json, pointer: string | undefined): string | undefined {
  const error = pointer === undefined ? undefined : textAt(answer, pointer);
  if (error !== undefined) return error;
  return valueAt(answer, "/ok") === false ? "failed" : undefined;
}

/** The error code of a failure: RFC 6749, or one of the usual other places. */
function errorCode(answer: Json): string | undefined {
  for (const pointer of ["/error", "/error/code", "/error/type", "/errorCode", "/status", "/code", "/errors/0/code"]) {
    const code = textAt(answer, pointer);
    if (code !== undefined) return code;
  }
  return undefined;
}

function textAt(answer: Json, pointer: string): string | undefined {
  const value = valueAt(answer, pointer);
  return typeof value === "string" && value !== "" ? value : undefined;
}

function scopeText(scope: Json | undefined): string | undefined {
  if (Array.isArray(scope)) return (scope as readonly Json[]).filter((each) => typeof each === "string").join(" ");
  return typeof scope === "string" ? scope : undefined;
}

/** Providers' own names for the refusal of a grant. */
const grantErrors: ReadonlySet<string> = new Set([
  "invalid_grant",
  "bad_refresh_token",
  "invalid_refresh_token",
  "refresh_token_expired",
  "expired_token",
  "token_expired",
  "token_revoked",
  "account_inactive",
  "invalid_auth",
  "interaction_required",
  "consent_required",
  "login_required",
  "bad_verification_code",
  "invalid_code",
  "code_already_used",
  "access_denied",
]);

/** Providers' own names for the refusal of the client. */
const clientErrors: ReadonlySet<string> = new Set([
  "invalid_client",
  "invalid_client_id",
  "bad_client_id",
  "bad_client_secret",
  "incorrect_client_credentials",
  "unauthorized_client",
]);

function standardError(code: string): string {
  const known = code.toLowerCase();
  if (grantErrors.has(known)) return "invalid_grant";
  if (clientErrors.has(known)) return "invalid_client";
  // Only a code is kept: texts of providers may contain tokens.
  return /^[a-z0-9_.-]{1,64}$/.test(known) ? known : "failed";
}

/** The granted scopes, whatever separates them. */
export function scopesOf(scope: string | undefined): readonly string[] | undefined {
  if (scope === undefined) return undefined;
  return storableText(scope)
    .split(/[\s,]+/)
    .filter((each) => each !== "");
}

/** The texts of an answer at these pointers, for templates. Objects and lists are left out. */
export function capturedFrom(answer: Json, pointers: ReadonlyMap<string, string>): Record<string, unknown> {
  const captured: Record<string, unknown> = {};
  for (const [name, pointer] of pointers) {
    const value = valueAt(answer, pointer);
    if (typeof value === "string") captured[name] = storableText(value);
    if (typeof value === "number" || typeof value === "boolean") captured[name] = value;
  }
  return captured;
}

/** The text or number of an answer at a pointer as a text; empty if there is none. */
export function accountTextAt(answer: Json, pointer: string | undefined): string {
  const value = pointer === undefined ? undefined : valueAt(answer, pointer);
  return typeof value === "string" || typeof value === "number" ? storableText(String(value)) : "";
}
