import { requestIdFrom } from "../../chain/steps/request-id.ts";
import { type Failure, fail } from "../../errors/index.ts";
import { type Exchange, headerOf } from "../exchange.ts";
import { contentTypesOf, type RpcProtocol, type WireType } from "./codec/wire-type.ts";
import { toConnectError } from "./connect/connect-error.ts";
import { grpc } from "./grpc/grpc.ts";
import { grpcWeb } from "./grpc/grpc-web.ts";
import { sendResponse } from "./response.ts";

/** Refuses an unknown method in the caller's protocol. */
export function refuseUnknown(exchange: Exchange, wire: WireType | undefined, near: string | undefined): void {
  const form = "The path must be /<full service name>/<method> (for example: /service.api.TenantService/GetTenant).";
  const failure = fail("ROUTE_NOT_FOUND", {
    public: near === undefined ? `No such method. ${form}` : `No such method. Did you mean ${near}?`,
    corrections:
      near === undefined
        ? []
        : [{ field: "path", kind: "unknown_path", in: "path", value: near, confidence: "likely" }],
  });
  const protocol = wire?.protocol === "grpc_web" ? grpcWeb : wire?.protocol === "grpc" ? grpc : undefined;
  if (wire === undefined || protocol === undefined || (protocol === grpc && exchange.request.httpVersionMajor < 2)) {
    // Connect clients read this status as "unimplemented", regardless of the body.
    refuse(exchange, 404, failure, {});
  } else {
    const requestId = idOf(exchange);
    const headers = { "content-type": wire.contentType, "x-request-id": requestId };
    protocol.end({ exchange, wire, failure, requestId, headers });
  }
}

/** Refuses an HTTP method. `get` is true if GET is allowed. */
export function refuseVerb(exchange: Exchange, get: boolean): void {
  const allow = get ? "GET, POST" : "POST";
  refuse(exchange, 405, fail("METHOD_NOT_ALLOWED", { public: `The method accepts only ${allow}.` }), { allow });
}

/** Refuses a content type that no protocol of the method uses. */
export function refuseContentType(exchange: Exchange, protocols: readonly RpcProtocol[]): void {
  const failure = fail("UNSUPPORTED_MEDIA_TYPE", {
    public: "The Content-Type is not supported. Use one of the types in the Accept-Post header.",
  });
  refuse(exchange, 415, failure, { "accept-post": contentTypesOf(protocols) });
}

/** Refuses gRPC over HTTP/1.1, because most clients could not read its trailers. */
export function refuseHttpVersion(exchange: Exchange): void {
  const text = "gRPC needs HTTP/2. Over HTTP/1.1, use gRPC-Web or Connect.";
  refuse(exchange, 505, fail("UNSUPPORTED_MEDIA_TYPE", { public: text }), {});
}

function refuse(exchange: Exchange, status: number, failure: Failure, headers: Record<string, string>): void {
  const requestId = idOf(exchange);
  const body = JSON.stringify(toConnectError(failure, requestId));
  sendResponse(exchange, status, { "content-type": "application/json", "x-request-id": requestId, ...headers }, body);
}

/** A request that is refused before it becomes a call gets an id too. */
function idOf({ request }: Exchange): string {
  return requestIdFrom(headerOf(request, "x-request-id"));
}
