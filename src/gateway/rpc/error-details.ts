import {
  create,
  type DescMessage,
  fromJson,
  type JsonValue,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { CorrectionsSchema } from "../../../gen/service/api/correction_pb.ts";
import { type ConnectCode, type Correction, Failure, fail, type Violation } from "../../errors/index.ts";

/** One error detail of Connect and gRPC. */
export interface ErrorDetail {
  /** The full name of the message. */
  readonly type: string;
  readonly value: Uint8Array;
  /** The detail as readable JSON. */
  readonly debug: JsonValue;
}

const domain = "service.api";

/** Converts a thrown value to a failure. Anything but a Failure becomes INTERNAL, so that no details reach the caller. */
export function toFailure(error: unknown): Failure {
  return error instanceof Failure ? error : fail("INTERNAL", { cause: error });
}

/** The code of a failure in Connect and gRPC. */
export function rpcCodeOf(failure: Failure): ConnectCode {
  return failure.entry.connect;
}

/** Converts a failure to error details: the error code, the violated fields, their corrections, and the retry delay. */
export function toErrorDetails(
  failure: Failure,
  requestId: string,
  violations = failure.violations,
  corrections = failure.corrections,
): ErrorDetail[] {
  const details = [errorInfo(failure, requestId)];
  if (violations.length > 0) details.push(badRequest(violations));
  if (corrections.length > 0) details.push(correctionsDetail(corrections));
  const delayS = retryAfterS(failure);
  if (delayS !== undefined) details.push(retryInfo(delayS));
  return details;
}

/** The headers of a failure, by lower-case name. */
export function headersOf(failure: Failure): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name in failure.headers) headers[name.toLowerCase()] = failure.headers[name]!;
  return headers;
}

function errorInfo(failure: Failure, requestId: string): ErrorDetail {
  const metadata: Record<string, string> = {};
  for (const [name, value] of Object.entries(failure.extra)) {
    metadata[name] = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  }
  metadata.retryable = String(failure.entry.retryable);
  if (requestId !== "") metadata.request_id = requestId;
  const info = { reason: failure.code, domain, metadata };
  return detail(ErrorInfoSchema, info, info);
}

function badRequest(violations: readonly Violation[]): ErrorDetail {
  const fieldViolations = violations.map(({ field, rule, message }) => ({ field, description: message, reason: rule }));
  return detail(BadRequestSchema, { fieldViolations }, { fieldViolations });
}

function correctionsDetail(corrections: readonly Correction[]): ErrorDetail {
  const debug = { corrections } as unknown as JsonValue;
  const value = toBinary(CorrectionsSchema, fromJson(CorrectionsSchema, debug));
  return { type: CorrectionsSchema.typeName, value, debug };
}

function retryInfo(delayS: number): ErrorDetail {
  return detail(RetryInfoSchema, { retryDelay: { seconds: BigInt(delayS) } }, { retryDelay: `${delayS}s` });
}

function retryAfterS(failure: Failure): number | undefined {
  const value = headersOf(failure)["retry-after"];
  return value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) : undefined;
}

function detail<Desc extends DescMessage>(desc: Desc, init: MessageInitShape<Desc>, debug: JsonValue): ErrorDetail {
  return { type: desc.typeName, value: toBinary(desc, create(desc, init)), debug };
}
