import { setTimeout as delay } from "node:timers/promises";
import type { Operation } from "../../definitions/index.ts";
import { backoffMs } from "../../platform/backoff/backoff.ts";
import { callBackoff, type RetryPolicy, send, type Trace } from "../connection/client.ts";
import type { Connection } from "../connection/connection.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { parseProblem, reportProblem } from "../output/problem.ts";
import { type Form, streamLines } from "../output/response-text.ts";
import { readEvents } from "./event-stream.ts";
import type { HttpRequest } from "./http-request.ts";

/** A stream and how to follow it. */
interface StreamRequest {
  readonly operation: Operation;
  readonly connection: Connection;
  readonly request: HttpRequest;
  readonly retryPolicy: RetryPolicy;
  readonly form: Form;
  readonly problemsAsJson: boolean;
  readonly trace: Trace;
}

/**
 * Follows a stream until it is complete or fails permanently. Returns the exit code.
 *
 * An interrupted stream is resumed after the last received event, so that no event is missed.
 */
export async function followStream(io: Io, streamRequest: StreamRequest): Promise<number> {
  const { operation, connection, request, retryPolicy, form, problemsAsJson, trace } = streamRequest;
  const resumable = operation.method.input.field.cursor !== undefined;
  let lastId = "";
  for (let failed = 0; failed <= retryPolicy.retries; failed++) {
    if (failed > 0) await delay(backoffMs(callBackoff, failed, Math.random()));
    const headers = lastId === "" ? request.headers : { ...request.headers, "last-event-id": lastId };
    const { problem, stream } = await send(connection, { ...request, headers }, retryPolicy, trace);
    if (problem !== undefined) return reportProblem(io, problem, problemsAsJson);
    try {
      for await (const { id, type, data } of readEvents(stream!)) {
        if (type === "error") {
          const broken = parseProblem(500, "", data);
          if (broken.retryable !== true) return reportProblem(io, broken, problemsAsJson);
          throw new Error(broken.title);
        }
        if (type === "end") return exitCodes.ok;
        failed = 0;
        lastId = id || lastId;
        io.out(streamLines(operation, data, form));
      }
      trace("< stream ended");
    } catch (error) {
      trace(`< stream interrupted: ${(error as Error).message}`);
    }
    if (!resumable) break;
  }
  throw new CliError("The stream was closed by the service.", exitCodes.unavailable);
}
