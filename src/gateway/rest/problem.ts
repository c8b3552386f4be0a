import type { Failure } from "../../errors/index.ts";

/** Formats a failure as an RFC 9457 problem document. */
export function toProblemJson(failure: Failure, errorsUrl: string, requestId: string): string {
  const { code, entry, message, violations, corrections, extra } = failure;
  return JSON.stringify({
    type: `${errorsUrl}/${code}`,
    title: entry.title,
    status: entry.http,
    detail: message,
    errorCode: code,
    retryable: entry.retryable,
    request_id: requestId === "" ? undefined : requestId,
    violations: violations.length === 0 ? undefined : violations,
    corrections: corrections.length === 0 ? undefined : corrections,
    ...extra,
  });
}
