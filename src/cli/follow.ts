import { setTimeout as delay } from "node:timers/promises";
import type { Operation } from "../definitions/index.ts";
import { type Form, streamedText } from "./answer-text.ts";
import { backoffMs, type Patience, send, type Trace } from "./client.ts";
import type { Connection } from "./connection.ts";
import { readEvents } from "./event-stream.ts";
import { CliError, exitCodes } from "./exit-codes.ts";
import type { HttpRequest } from "./http-request.ts";
import type { Io } from "./io.ts";
import { problemOf, reportProblem } from "./problem.ts";

/**
 * Follows a stream until it fails for good; answers with the exit code.
 *
 * A stream that breaks off is taken up again after the last event that came, so that none is missed after the first.
 */
export async function follow(
  io: Io,
  operation: Operation,
  connection: Connection,
  request: HttpRequest,
  patience: Patience,
  form: Form,
  trace: Trace,
): Promise<number> {
  const resumable = operation.method.input.field.cursor !== undefined;
  let lastId = "";
  for (let failed = 0; failed <= patience.retries; failed++) {
    if (failed > 0) await delay(backoffMs(failed - 1));
    const headers = lastId === "" ? request.headers : { ...request.headers, "last-event-id": lastId };
    const answer = await send(connection, { ...request, headers }, patience, trace);
    if (answer.problem !== undefined) return reportProblem(io, answer.problem, form === "json");
    try {
      for await (const { id, type, data } of readEvents(answer.stream!)) {
        if (type === "error") {
          const problem = problemOf(500, data);
          if (problem.retryable !== true) return reportProblem(io, problem, form === "json");
          throw new Error(problem.title);
        }
        failed = 0;
        lastId = id || lastId;
        io.out(streamedText(operation, data, form));
      }
      trace("< the stream ended");
    } catch (error) {
      trace(`< the stream broke off: ${(error as Error).message}`);
    }
    if (!resumable) break;
  }
  throw new CliError("The stream ended.", exitCodes.unavailable);
}
