/**
 * RPC: serves Connect, gRPC and gRPC-Web.
 *
 * procedure: a callable method with its codecs. wire type: the protocol and format of a content type.
 * envelope: one message on the wire, with a prefix of flags and length.
 * envelope protocol: a protocol that sends messages in envelopes.
 */
import type { Call, CallResponse } from "../../chain/call.ts";
import { isGuardedOperation } from "../../chain/corrections.ts";
import type { Operation } from "../../definitions/index.ts";
import { unreachable } from "../../errors/index.ts";
import { nearestName } from "../../platform/text/index.ts";
import type { Exchange } from "../exchange.ts";
import { wireTypeOf } from "./codec/wire-type.ts";
import { connectGetRequest, handleConnectGet } from "./connect/connect-get.ts";
import { connectStream } from "./connect/connect-stream.ts";
import { handleConnectUnary } from "./connect/connect-unary.ts";
import { handleEnvelopedCall } from "./envelope-protocol.ts";
import { grpc } from "./grpc/grpc.ts";
import { grpcWeb } from "./grpc/grpc-web.ts";
import { createHealthProcedures, type HealthSource } from "./grpc/health.ts";
import { createReflectionProcedure, reflectionPaths } from "./grpc/reflection.ts";
import { createProcedure, type Procedure } from "./procedure.ts";
import { refuseContentType, refuseHttpVersion, refuseUnknown, refuseVerb } from "./refusal.ts";

export type { HealthSource } from "./grpc/health.ts";

export interface RpcOptions {
  /** The plane's operations. Others can be neither called nor seen. */
  readonly operations: readonly Operation[];
  /** Runs a call through the chain. Throws only failures that callers may see. */
  readonly invoke: (call: Call) => Promise<CallResponse>;
  /** The smallest response that is compressed, if the caller accepts it; 1 KiB by default. */
  readonly compressBytesMin?: number;
  /** Serves the gRPC health protocol, without credentials. */
  readonly health?: HealthSource;
  /** Serves gRPC reflection of the operations, without credentials. */
  readonly reflection?: boolean;
}

/** A plane's RPC handler. */
export type RpcHandler = ReturnType<typeof createRpcHandler>;

/** Creates a plane's RPC handler. */
export function createRpcHandler(options: RpcOptions) {
  const routes = routesOf(options);
  return {
    /** Whether a request is RPC, even for an unknown method. */
    matches: (exchange: Exchange): boolean => routes.has(exchange.path) || isProcedureCall(exchange),
    /** Handles a matching request. */
    async handle(exchange: Exchange) {
      const { request } = exchange;
      const procedure = routes.get(exchange.path);
      const wire = request.method === "POST" ? wireTypeOf(request.headers["content-type"]) : undefined;
      if (procedure === undefined)
        return refuseUnknown(exchange, wire, nearestMethod(options.operations, exchange.path));
      if (request.method === "GET" && procedure.get) {
        const getRequest = connectGetRequest(exchange.query);
        if (getRequest === undefined) return refuseContentType(exchange, procedure.protocols);
        return handleConnectGet(exchange, procedure, getRequest);
      }
      if (request.method !== "POST") return refuseVerb(exchange, procedure.get);
      if (wire === undefined || !procedure.protocols.includes(wire.protocol)) {
        return refuseContentType(exchange, procedure.protocols);
      }
      switch (wire.protocol) {
        case "connect_unary":
          return handleConnectUnary(exchange, procedure, wire.format);
        case "connect_stream":
          return handleEnvelopedCall(connectStream, exchange, procedure, wire);
        case "grpc_web":
          return handleEnvelopedCall(grpcWeb, exchange, procedure, wire);
        case "grpc":
          if (request.httpVersionMajor < 2) return refuseHttpVersion(exchange);
          return handleEnvelopedCall(grpc, exchange, procedure, wire);
        default:
          return unreachable(wire.protocol);
      }
    },
  };
}

/** The path of the method that somebody meant: a mistyped service or method, or a service without its package. */
function nearestMethod(operations: readonly Operation[], path: string): string | undefined {
  const [, typedService = "", typedMethod = ""] = /^\/(?:[\w.]*\.)?(\w{1,100})\/(\w{1,100})$/.exec(path) ?? [];
  const services = new Map(operations.map(({ service }) => [service.name, service]));
  const service = services.get(typedService) ?? services.get(nearestName(typedService, [...services.keys()]) ?? "");
  if (service === undefined) return undefined;
  const ofService = new Map(
    operations.filter((each) => each.service === service).map((each) => [each.method.name, each]),
  );
  const found = ofService.get(typedMethod) ?? ofService.get(nearestName(typedMethod, [...ofService.keys()]) ?? "");
  return found === undefined || isGuardedOperation(found) ? undefined : `/${found.id}`;
}

/** A full service name and a method name. No other path has this form. */
const procedurePath = /^\/[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\/\w*$/;

/** Whether a request is an RPC, so that an unknown method is refused in the caller's protocol. */
function isProcedureCall({ path, request }: Exchange): boolean {
  if (procedurePath.test(path)) return true;
  const protocol = request.method === "POST" ? wireTypeOf(request.headers["content-type"])?.protocol : undefined;
  if (protocol === undefined) return false;
  // REST requests are JSON too.
  return protocol !== "connect_unary" || request.headers["connect-protocol-version"] !== undefined;
}

function routesOf({ operations, invoke, compressBytesMin, health, reflection }: RpcOptions): Map<string, Procedure> {
  const procedures = operations.map((operation) => createProcedure(operation, invoke, compressBytesMin));
  if (health !== undefined) {
    const services = new Set(operations.map(({ service }) => service.typeName));
    procedures.push(...createHealthProcedures(health, services));
  }
  const routes = new Map(procedures.map((procedure) => [`/${procedure.operation.id}`, procedure]));
  if (reflection === true) {
    const procedure = createReflectionProcedure(procedures.map(({ operation }) => operation.method));
    for (const path of reflectionPaths) routes.set(path, procedure);
  }
  return routes;
}
