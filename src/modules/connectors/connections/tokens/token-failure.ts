import { ResponseBodyError } from "oauth4webapi";
import { EgressError } from "../../../../platform/egress/index.ts";
import type { RenderFailure } from "../../manifests/index.ts";
import type { StandardAnswer } from "./token-answer.ts";

/** Why a token request failed. Codes are safe to show. */
export type TokenFailure =
  /** The provider refused the request. */
  | { readonly kind: "refused"; readonly what: "grant" | "client" | "request"; readonly code: string }
  /** The server is not a token endpoint, or is faulty. The grant may still be spent. The code describes the response. */
  | { readonly kind: "malformed"; readonly code: string }
  /** The provider did not respond. `mayHaveArrived`: the provider may have spent the grant. */
  | {
      readonly kind: "unavailable";
      readonly code: string;
      readonly mayHaveArrived: boolean;
      readonly retryAfterMs: number | undefined;
    };

/** Thrown when a token request fails. */
export class TokenRequestError extends Error {
  readonly fault: TokenFailure;

  constructor(fault: TokenFailure, options?: ErrorOptions) {
    super(`The token request failed: ${fault.code}.`, options);
    this.fault = fault;
  }
}

/** Runs a token request and returns its failure. The texts of errors are dropped, because they may contain tokens. */
export async function tokenOrFault<T>(request: () => Promise<T>): Promise<T | TokenFailure> {
  try {
    return await request();
  } catch (error) {
    return faultOf(error);
  }
}

function faultOf(error: unknown): TokenFailure {
  if (error instanceof TokenRequestError) return error.fault;
  if (error instanceof ResponseBodyError) return refusal(error.error);
  if (error instanceof EgressError) {
    const { reason: code, mayHaveArrived } = error;
    return { kind: "unavailable", code, mayHaveArrived, retryAfterMs: undefined };
  }
  return { kind: "malformed", code: "malformed" };
}

/** The refusal that a standard error code means. */
export function refusal(code: string): TokenFailure {
  const what = code === "invalid_grant" ? "grant" : code === "invalid_client" ? "client" : "request";
  return { kind: "refused", what, code };
}

/** The error of an answer that is not one of a token endpoint. */
export function unusableAnswer(answer: Exclude<StandardAnswer, { readonly kind: "standard" }>): TokenRequestError {
  if (answer.kind === "malformed") return new TokenRequestError(answer);
  const { code, retryAfterMs } = answer;
  // A limited request was not carried out.
  return new TokenRequestError({
    ...{ kind: "unavailable", code, mayHaveArrived: code !== "rate_limited", retryAfterMs },
  });
}

/** Returns a rendered value, or throws TokenRequestError. */
export function rendered<T>(value: T | RenderFailure): Exclude<T, RenderFailure> {
  if (!isFault(value)) return value as Exclude<T, RenderFailure>;
  throw new TokenRequestError({ kind: "refused", what: "request", code: value.fault });
}

/** Whether something could not be rendered. */
export function isFault(value: unknown): value is RenderFailure {
  return typeof value === "object" && value !== null && "fault" in value;
}
