/**
 * RPC: Connect, gRPC and gRPC-Web, from the wire to a call and back.
 *
 * procedure: a method as the wire reaches it. wire type: protocol and format, told by the content type.
 * family: a protocol. framing: how a family that uses envelopes differs from the others.
 * envelope: one message of a stream, with flags and length before it.
 */
import type { Answer, Call } from "../../chain/call.ts";
import type { Operation } from "../../definitions/index.ts";
import { unreachable } from "../../errors/index.ts";
import type { Exchange } from "../exchange.ts";
import { wireTypeOf } from "./codec/wire-type.ts";
import { connectGetRequest, handleConnectGet } from "./connect/connect-get.ts";
import { connectStream } from "./connect/connect-stream.ts";
import { handleConnectUnary } from "./connect/connect-unary.ts";
import { handleFramed } from "./framed.ts";
import { grpc } from "./grpc/grpc.ts";
import { grpcWeb } from "./grpc/grpc-web.ts";
import { type HealthSource, healthProcedures } from "./grpc/health.ts";
import { reflectionPaths, reflectionProcedure } from "./grpc/reflection.ts";
import { type Procedure, procedureOf } from "./procedure.ts";
import { refuseContentType, refuseHttpVersion, refuseUnknown, refuseVerb } from "./refusal.ts";

export type { HealthSource } from "./grpc/health.ts";

/** What the RPC surface of a plane needs. */
export interface RpcOptions {
  /** The operations that the plane offers; no other can be called or seen. */
  readonly operations: readonly Operation[];
  /** Runs a call through the chain; throws only failures that callers may see. */
  readonly invoke: (call: Call) => Promise<Answer>;
  /** Answers from this size on are compressed for callers that accept it; 1 KiB unless said otherwise. */
  readonly compressBytesMin?: number;
  /** Serves the gRPC health protocol, without credentials. */
  readonly health?: HealthSource;
  /** Serves gRPC reflection of the operations, without credentials. */
  readonly reflection?: boolean;
}

/** The RPC surface of a plane. */
export interface RpcHandler {
  /** Whether an exchange is RPC, for a known method or not. */
  matches(exchange: Exchange): boolean;
  /** Answers an exchange whose path matches. */
  handle(exchange: Exchange): Promise<void>;
}

/** Makes the RPC surface of a plane. */
export function createRpcHandler(options: RpcOptions): RpcHandler {
  const routes = routesOf(options);
  return {
    matches: (exchange) => routes.has(exchange.path) || isProcedureCall(exchange),
    async handle(exchange) {
      const { request } = exchange;
      const procedure = routes.get(exchange.path);
      const wire = request.method === "POST" ? wireTypeOf(request.headers["content-type"]) : undefined;
      if (procedure === undefined) return refuseUnknown(exchange, wire);
      if (request.method === "GET" && procedure.get) {
        const asked = connectGetRequest(exchange.query);
        if (asked === undefined) return refuseContentType(exchange, procedure.families);
        return handleConnectGet(exchange, procedure, asked);
      }
      if (request.method !== "POST") return refuseVerb(exchange, procedure.get);
      if (wire === undefined || !procedure.families.includes(wire.family)) {
        return refuseContentType(exchange, procedure.families);
      }
      switch (wire.family) {
        case "connect_unary":
          return handleConnectUnary(exchange, procedure, wire.format);
        case "connect_stream":
          return handleFramed(connectStream, exchange, procedure, wire);
        case "grpc_web":
          return handleFramed(grpcWeb, exchange, procedure, wire);
        case "grpc":
          if (request.httpVersionMajor < 2) return refuseHttpVersion(exchange);
          return handleFramed(grpc, exchange, procedure, wire);
        default:
          return unreachable(wire.family);
      }
    },
  };
}

/** A service's full name and a method, which no other path looks like. */
const procedurePath = /^\/[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\/\w*$/;

/** Whether a request is meant for some procedure, so that an unknown one is refused in the caller's own protocol. */
function isProcedureCall({ path, request }: Exchange): boolean {
  if (procedurePath.test(path)) return true;
  const family = request.method === "POST" ? wireTypeOf(request.headers["content-type"])?.family : undefined;
  if (family === undefined) return false;
  // JSON is sent to REST's paths as well.
  return family !== "connect_unary" || request.headers["connect-protocol-version"] !== undefined;
}

function routesOf({ operations, invoke, compressBytesMin, health, reflection }: RpcOptions): Map<string, Procedure> {
  const procedures = operations.map((operation) => procedureOf(operation, invoke, compressBytesMin));
  if (health !== undefined) {
    const services = new Set(operations.map(({ service }) => service.typeName));
    procedures.push(...healthProcedures(health, services));
  }
  const routes = new Map(procedures.map((procedure) => [`/${procedure.operation.id}`, procedure]));
  if (reflection === true) {
    const procedure = reflectionProcedure(procedures.map(({ operation }) => operation.method));
    for (const path of reflectionPaths) routes.set(path, procedure);
  }
  return routes;
}
