import { isUtf8 } from "node:buffer";
import type { Json } from "../../../../platform/document/index.ts";
import { EgressError, type EgressFailure } from "../../../../platform/egress/index.ts";
import {
  type Action,
  type AnswerClass,
  type HttpAnswer,
  type PageState,
  type Provider,
  type Redactor,
  readResponse,
} from "../../manifests/index.ts";
import type { AttemptResult } from "../domain/next-step.ts";
import { rawOutputOf } from "./raw-request.ts";

/** A successful answer. The output is not redacted, because the request of the next page may need it as it is. */
export interface Success {
  readonly class: "ok";
  readonly httpStatus: number;
  readonly output: Json;
  readonly nextPage: PageState | undefined;
  readonly truncated: boolean;
  readonly retryAtMs: number | undefined;
}

/** An answer without success, or no answer. Code and message are redacted. */
export interface Refusal extends AttemptResult {
  readonly class: Exclude<AnswerClass, "ok">;
  readonly httpStatus: number;
  readonly code: string;
  readonly message: string;
}

/** The inputs of reading an answer. */
interface Reading {
  readonly provider: Provider;
  readonly action: Action;
  readonly page: PageState | undefined;
  readonly redactor: Redactor;
  readonly nowMs: number;
  /** Whether to return every answer as it is, except for those that concern the connection. */
  readonly isRaw: boolean;
}

/** Reads an answer as the manifest describes it. */
export function readAnswer(
  answer: HttpAnswer,
  { provider, action, page, redactor, nowMs, isRaw }: Reading,
): Success | Refusal {
  const { status: httpStatus } = answer;
  const read = readResponse(provider, action, answer, { nowMs, page });
  if (isRaw && read.class !== "auth_expired" && read.class !== "rate_limited") {
    const output = rawOutputOf(redactAnswer(answer, redactor));
    return { class: "ok", httpStatus, output, nextPage: undefined, truncated: false, retryAtMs: read.retryAtMs };
  }
  if (read.class === "ok") {
    const { output, nextPage, truncated = false, retryAtMs } = read;
    return { class: "ok", httpStatus, output, nextPage, truncated, retryAtMs };
  }
  const { class: answerClass, retryAtMs } = read;
  // Redacted before it is shortened: the rest of a secret that was cut off could not be recognised.
  const shown = readResponse(provider, action, redactAnswer(answer, redactor), { nowMs, page });
  const { code, message } = shown.class === "ok" ? { code: `http_${httpStatus}`, message: "" } : shown;
  return {
    ...{ class: answerClass, httpStatus, notSent: false, retryAtMs },
    ...{ code: redactor.text(code), message: redactor.text(message) },
    mayHaveTakenEffect: isAmbiguous(httpStatus, answerClass),
  };
}

/**
 * Whether the provider may have performed a request that it did not confirm: a failing server or gateway, a redirection
 * after a form, or an unreadable confirmation.
 */
function isAmbiguous(status: number, answerClass: AnswerClass): boolean {
  return status >= 500 || (status >= 300 && status < 400) || answerClass === "malformed";
}

function redactAnswer({ status, headers, body }: HttpAnswer, redactor: Redactor): HttpAnswer {
  const named = Object.entries(headers).map(([name, value]) => [name, redactor.text(value)]);
  // Latin-1 keeps the bytes of a body that is no text.
  const encoding = isUtf8(body) ? "utf8" : "latin1";
  const text = redactor.text(body.toString(encoding));
  return { status, headers: Object.fromEntries(named), body: Buffer.from(text, encoding) };
}

const faults: Readonly<Record<EgressFailure, readonly [answerClass: Refusal["class"], message: string]>> = {
  denied: ["failed", "The egress policy does not allow connections to the provider's host."],
  invalid_url: ["failed", "The request cannot be sent: its URL or a header is invalid."],
  dns_failed: ["unavailable", "The provider's host could not be resolved."],
  connect_failed: ["unavailable", "The provider could not be reached."],
  tls_failed: ["unavailable", "The secure connection to the provider could not be established."],
  timeout: ["unavailable", "The provider did not answer in time."],
  too_large: ["malformed", "The provider's answer is larger than the action allows."],
  cancelled: ["unavailable", "The request was cancelled."],
  connection_lost: ["unavailable", "The connection to the provider was lost before its answer was complete."],
};

/** Reads the reason why there is no answer. */
export function readFault(error: unknown): Refusal {
  if (!(error instanceof EgressError)) throw error;
  const { reason, mayHaveArrived } = error;
  const [answerClass, message] = faults[reason];
  return {
    ...{ class: answerClass, httpStatus: 0, code: reason, message },
    ...{ notSent: !mayHaveArrived, mayHaveTakenEffect: mayHaveArrived },
  };
}
