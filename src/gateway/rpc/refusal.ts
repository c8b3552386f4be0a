import { requestIdFrom } from "../../chain/steps/request-id.ts";
import { type Failure, fail } from "../../errors/index.ts";
import { type Exchange, headerOf } from "../exchange.ts";
import { contentTypesOf, type Family, type WireType } from "./codec/wire-type.ts";
import { connectErrorOf } from "./connect/connect-error.ts";
import { grpc } from "./grpc/grpc.ts";
import { grpcWeb } from "./grpc/grpc-web.ts";
import { replyWhole } from "./reply.ts";

/** Refuses a method that does not exist, in the protocol that it was asked for in. */
export function refuseUnknown(exchange: Exchange, wire: WireType | undefined): void {
  const failure = fail("ROUTE_NOT_FOUND", { public: "No such method." });
  const framing = wire?.family === "grpc_web" ? grpcWeb : wire?.family === "grpc" ? grpc : undefined;
  if (wire === undefined || framing === undefined || (framing === grpc && exchange.request.httpVersionMajor < 2)) {
    // Connect's clients take this status for "unimplemented", whatever the body is.
    refuse(exchange, 404, failure, {});
  } else {
    const requestId = idOf(exchange);
    const headers = { "content-type": wire.contentType, "x-request-id": requestId };
    framing.end({ exchange, wire, failure, requestId, headers });
  }
}

/** Refuses a verb; `get` tells whether GET would do. */
export function refuseVerb(exchange: Exchange, get: boolean): void {
  const allow = get ? "GET, POST" : "POST";
  refuse(exchange, 405, fail("METHOD_NOT_ALLOWED", { public: `The method takes ${allow}.` }), { allow });
}

/** Refuses a content type that no protocol of the method has. */
export function refuseContentType(exchange: Exchange, families: readonly Family[]): void {
  const failure = fail("UNSUPPORTED_MEDIA_TYPE", { public: "The method takes the content types in Accept-Post." });
  refuse(exchange, 415, failure, { "accept-post": contentTypesOf(families) });
}

/** Refuses gRPC over HTTP/1.1, which could not carry its trailers to most clients. */
export function refuseHttpVersion(exchange: Exchange): void {
  const text = "gRPC needs HTTP/2; over HTTP/1.1 use gRPC-Web or Connect.";
  refuse(exchange, 505, fail("UNSUPPORTED_MEDIA_TYPE", { public: text }), {});
}

function refuse(exchange: Exchange, status: number, failure: Failure, headers: Record<string, string>): void {
  const requestId = idOf(exchange);
  const body = JSON.stringify(connectErrorOf(failure, requestId));
  replyWhole(exchange, status, { "content-type": "application/json", "x-request-id": requestId, ...headers }, body);
}

/** What is refused before it becomes a call has an id too. */
function idOf({ request }: Exchange): string {
  return requestIdFrom(headerOf(request, "x-request-id"));
}
