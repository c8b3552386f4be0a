import type { Operation } from "../../definitions/index.ts";
import { ulid } from "../../platform/ids/ulid.ts";
import { send, type Trace } from "../connection/client.ts";
import { type CommonOptions, toRetryPolicy } from "../connection/common-options.ts";
import { resolveConnection } from "../connection/connection.ts";
import { exitCodes, usageError } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { findOwnForm } from "../output/own-form.ts";
import { reportProblem } from "../output/problem.ts";
import { responseField } from "../output/response-field.ts";
import { resolveForm, responseText, widthOf } from "../output/response-text.ts";
import type { CommandInput } from "./command-input.ts";
import { toHttpRequest } from "./http-request.ts";
import { buildRequestJson } from "./request-json.ts";
import { followStream } from "./stream-follower.ts";

/** The options of a call, besides the request's fields. */
export interface CallOptions extends CommonOptions {
  readonly idempotencyKey?: string;
  readonly ifMatch?: string;
}

/** Calls an operation and prints its response. Returns the exit code. */
export async function callOperation(
  io: Io,
  operation: Operation,
  input: CommandInput,
  options: CallOptions,
): Promise<number> {
  const connection = await resolveConnection(io, options);
  if (operation.governance.internalOnly && connection.plane !== "internal") {
    throw usageError(
      "This operation exists only on the internal plane: use --plane internal (or a profile of that plane) and a service token",
    );
  }
  const json = await buildRequestJson(io, operation, input);
  const plain = toHttpRequest(operation, json);
  const request = { ...plain, headers: { ...plain.headers, ...conditionalHeaders(operation, options) } };
  const form = resolveForm(io, options);
  const trace: Trace = options.verbose ? (line) => io.err(`${line}\n`) : () => {};
  if (request.headers["idempotency-key"]) trace(`  idempotency key ${request.headers["idempotency-key"]}`);

  const retryPolicy = toRetryPolicy(options);
  const problemsAsJson = options.json === true;
  if (operation.streaming && !operation.streamsBytes) {
    return followStream(io, { operation, connection, request, retryPolicy, form, problemsAsJson, trace });
  }
  const response = await send(connection, request, retryPolicy, trace);
  if (response.problem !== undefined) {
    const { problem } = response;
    const patches = problem.corrections;
    const corrected =
      patches.length === 0
        ? undefined
        : (await import("./corrected-command.ts")).correctedCommand(operation, input, json, patches);
    return reportProblem(io, problem, problemsAsJson, corrected);
  }
  if (operation.streamsBytes) {
    io.out(response.body);
    return exitCodes.ok;
  }
  const own = await findOwnForm(operation.id, response.body);
  const exitCode = own?.exitCode ?? exitCodes.ok;
  if (options.field !== undefined) {
    io.out(responseField(response.body, options.field));
    return exitCode;
  }
  const contentType = response.headers["content-type"] ?? "";
  const width = widthOf(io, options);
  const { text, aside } = responseText(operation, contentType, response.body, form, width);
  const isOwn = own !== undefined && form === "table";
  io.out(isOwn ? own.text({ isColoured: io.terminal && !io.env.NO_COLOR, width }) : text);
  io.err(aside);
  return exitCode;
}

/** The Idempotency-Key and If-Match headers. */
function conditionalHeaders(
  { acceptsIdempotencyKey }: Operation,
  { idempotencyKey, ifMatch }: CallOptions,
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (acceptsIdempotencyKey) headers["idempotency-key"] = idempotencyKey ?? ulid(Date.now());
  if (ifMatch !== undefined) headers["if-match"] = /^\d+$/.test(ifMatch) ? `"${ifMatch}"` : ifMatch;
  for (const value of Object.values(headers)) {
    if (!/^[\x20-\x7e]+$/.test(value)) throw usageError(`${JSON.stringify(value)}: must be printable ASCII characters`);
  }
  return headers;
}
