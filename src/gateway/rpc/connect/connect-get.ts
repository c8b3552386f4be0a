import type { Exchange } from "../../exchange.ts";
import type { Procedure } from "../procedure.ts";
import { responseOf } from "../response.ts";
import { runConnectUnary, type UnaryRequest } from "./connect-unary.ts";

/** Reads a Connect GET request; undefined if its query has no supported encoding. */
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
    // URLSearchParams turns an unescaped plus sign into a space.
    read: () => (base64 ? Buffer.from(message.replaceAll(" ", "+"), "base64") : Buffer.from(message)),
  };
}

/** Handles a Connect GET call. */
export function handleConnectGet(exchange: Exchange, procedure: Procedure, request: UnaryRequest): Promise<void> {
  // GET responses can be cached, and the same URL has compressed and plain responses.
  responseOf(exchange).appendHeader("vary", "accept-encoding");
  return runConnectUnary(exchange, procedure, request);
}
