import type { Exchange } from "../../exchange.ts";
import type { Procedure } from "../procedure.ts";
import { responseOf } from "../reply.ts";
import { answerConnectUnary, type UnaryRequest } from "./connect-unary.ts";

/** Reads a Connect call that was made with GET; undefined when its query names no known encoding. */
export function connectGetRequest(query: string): UnaryRequest | undefined {
  const parameters = new URLSearchParams(query);
  const format = parameters.get("encoding");
  if (format !== "json" && format !== "proto") return undefined;
  const message = parameters.get("message") ?? "";
  const base64 = parameters.get("base64") === "1";
  return {
    format,
    encoding: parameters.get("compression") ?? undefined,
    version: parameters.get("connect")?.replace(/^v/, ""),
    // A plus sign that was not escaped has become a space.
    read: () => (base64 ? Buffer.from(message.replaceAll(" ", "+"), "base64") : Buffer.from(message)),
  };
}

/** Answers a Connect call that was made with GET. */
export function handleConnectGet(exchange: Exchange, procedure: Procedure, request: UnaryRequest): Promise<void> {
  // Only GET is cached, and the same address answers compressed and plain.
  responseOf(exchange).appendHeader("vary", "accept-encoding");
  return answerConnectUnary(exchange, procedure, request);
}
