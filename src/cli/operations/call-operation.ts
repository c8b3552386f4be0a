import type { Operation } from "../../definitions/index.ts";
import { ulid } from "../../platform/ids/ulid.ts";
import { send, type Trace } from "../connection/client.ts";
import { type CommonOptions, patienceOf } from "../connection/common-options.ts";
import { connectionOf } from "../connection/connection.ts";
import { exitCodes, usageError } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { reportProblem } from "../output/problem.ts";
import { answerField } from "../output/response-field.ts";
import { answerText, formOf, widthOf } from "../output/response-text.ts";
import { follow } from "./follow.ts";
import { httpRequest } from "./http-request.ts";
import { type Given, requestJson } from "./request-json.ts";

/** What a command line says beside the request's own fields. */
export interface CallOptions extends CommonOptions {
  readonly idempotencyKey?: string;
  readonly ifMatch?: string;
}

/** Carries out an operation and writes its answer; answers with the exit code. */
export async function callOperation(io: Io, operation: Operation, given: Given, options: CallOptions): Promise<number> {
  const connection = await connectionOf(io, options);
  if (operation.governance.internalOnly && connection.plane !== "internal") {
    throw usageError(
      "This operation is only on the internal plane: use --plane internal or a profile of that plane, and a service token",
    );
  }
  const plain = httpRequest(operation, await requestJson(io, operation, given));
  const request = { ...plain, headers: { ...plain.headers, ...promises(operation, options) } };
  const form = formOf(io, options);
  const trace: Trace = options.verbose ? (line) => io.err(`${line}\n`) : () => {};
  if (request.headers["idempotency-key"]) trace(`  idempotency key ${request.headers["idempotency-key"]}`);

  const patience = patienceOf(options);
  const problemsAsJson = options.json === true;
  if (operation.streaming) {
    return follow(io, { operation, connection, request, patience, form, problemsAsJson, trace });
  }
  const answer = await send(connection, request, patience, trace);
  if (answer.problem !== undefined) return reportProblem(io, answer.problem, problemsAsJson);
  if (options.field !== undefined) {
    io.out(answerField(answer.body, options.field));
    return exitCodes.ok;
  }
  const contentType = answer.headers.get("content-type") ?? "";
  const { text, aside } = answerText(operation, contentType, answer.body, form, widthOf(io, options));
  io.out(text);
  io.err(aside);
  return exitCodes.ok;
}

/** Headers that make a call safe to repeat, or conditional. */
function promises({ governance }: Operation, { idempotencyKey, ifMatch }: CallOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  if (governance.mutating) headers["idempotency-key"] = idempotencyKey ?? ulid(Date.now());
  if (ifMatch !== undefined) headers["if-match"] = /^\d+$/.test(ifMatch) ? `"${ifMatch}"` : ifMatch;
  for (const value of Object.values(headers)) {
    if (!/^[\x20-\x7e]+$/.test(value)) throw usageError(`${JSON.stringify(value)} must be printable ASCII`);
  }
  return headers;
}
