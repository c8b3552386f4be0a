import { setTimeout as delay } from "node:timers/promises";
import type { Operation } from "../../definitions/index.ts";
import { backoffMs, type Patience, send, type Trace } from "../connection/client.ts";
import type { Connection } from "../connection/connection.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { problemOf, reportProblem } from "../output/problem.ts";
import { type Form, streamedText } from "../output/response-text.ts";
import { readEvents } from "./event-stream.ts";
import type { HttpRequest } from "./http-request.ts";

/** A stream to follow. */
interface Following {
  readonly operation: Operation;
  readonly connection: Connection;
  readonly request: HttpRequest;
  readonly patience: Patience;
  readonly form: Form;
  readonly problemsAsJson: boolean;
  readonly trace: Trace;
}

/**
 * Follows a stream until it fails for good; answers with the exit code.
 *
 * A stream that breaks off is taken up again after the last event that came, so that none is missed after the first.
 */
export async function follow(io: Io, following: Following): Promise<number> {
  const { operation, connection, request, patience, form, problemsAsJson, trace } = following;
  const resumable = operation.method.input.field.cursor !== undefined;
  let lastId = "";
  for (let failed = 0; failed <= patience.retries; failed++) {
    if (failed > 0) await delay(backoffMs(failed - 1));
    const headers = lastId === "" ? request.headers : { ...request.headers, "last-event-id": lastId };
    const { problem, stream } = await send(connection, { ...request, headers }, patience, trace);
    if (problem !== undefined) return reportProblem(io, problem, problemsAsJson);
    try {
      for await (const { id, type, data } of readEvents(stream!)) {
        if (type === "error") {
          const broken = problemOf(500, "", data);
          if (broken.retryable !== true) return reportProblem(io, broken, problemsAsJson);
          throw new Error(broken.title);
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
