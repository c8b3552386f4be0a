import { create, type DescMessage, type JsonValue, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { type ConnectCode, Failure, fail, type Violation } from "../../errors/index.ts";

/** One detail of an error, as Connect and gRPC carry it. */
export interface ErrorDetail {
  /** The full name of the message. */
  readonly type: string;
  readonly value: Uint8Array;
  /** The same for people. */
  readonly debug: JsonValue;
}

const domain = "service.api";

/** What is answered for something thrown. Only a Failure was made for callers; anything else says nothing about itself. */
export function failureOf(error: unknown): Failure {
  return error instanceof Failure ? error : fail("INTERNAL", { cause: error });
}

/** The code of a failure in Connect and gRPC. */
export function rpcCodeOf(failure: Failure): ConnectCode {
  return failure.entry.connect;
}

/** The details of a failure: what it is, which fields are wrong, when to try again. */
export function detailsOf(failure: Failure, requestId: string, violations = failure.violations): ErrorDetail[] {
  const details = [errorInfo(failure, requestId)];
  if (violations.length > 0) details.push(badRequest(violations));
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
