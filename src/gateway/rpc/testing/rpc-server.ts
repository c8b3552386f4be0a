/** For tests: an RPC server on a loopback port, and third-party clients for it. */
import { createServer, type RequestListener } from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { create } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { GetTenantResponseSchema } from "../../../../gen/service/api/tenant_pb.ts";
import type { Call } from "../../../chain/call.ts";
import { readOperations } from "../../../definitions/index.ts";
import type { Exchange } from "../../exchange.ts";
import { createRpcHandler, type RpcOptions } from "../index.ts";

export interface RpcServer {
  readonly url: string;
  readonly port: number;
}

// The server never stops during these tests.
const stopping = new AbortController().signal;

type Settings = Partial<RpcOptions> & { readonly bodyBytesMax?: number };

/** Starts a server that stops with the test. */
export async function startRpcServer(test: TestContext, version: "1.1" | "2", settings: Settings): Promise<RpcServer> {
  const { bodyBytesMax = 65_536, ...options } = settings;
  const handler = createRpcHandler({ operations: readOperations(), invoke: echoTenant, ...options });
  const listener = (request: Exchange["request"], response: Exchange["response"]) => {
    const [path = "", query = ""] = request.url!.split("?");
    const exchange: Exchange = {
      request,
      response,
      path,
      query,
      plane: "external",
      clientAddress: "",
      bodyBytesMax,
      bodyTimeoutMs: 30_000,
      stopping,
      headers: {},
      awaitsContinue: false,
    };
    if (!handler.matches(exchange)) throw new Error(`${path} does not match`);
    // An unhandled rejection is intended: it fails the test.
    handler.handle(exchange);
  };
  const sessions = new Set<ServerHttp2Session>();
  const server = version === "1.1" ? createServer(listener as RequestListener) : createHttp2Server(listener);
  server.on("session", (session: ServerHttp2Session) => sessions.add(session));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  test.after(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const session of sessions) session.destroy();
    if ("closeAllConnections" in server) server.closeAllConnections();
    await closed;
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}` };
}

/** Responds to GetTenant with the requested id. */
async function echoTenant(call: Call) {
  const { tenantId } = (await call.decode()) as unknown as { tenantId: string };
  return create(GetTenantResponseSchema, { tenant: { id: tenantId, name: "Näme" } });
}

/** A protocol and format of third-party clients. */
export interface ClientProtocol {
  readonly name: string;
  readonly version: "1.1" | "2";
  readonly transport: (server: RpcServer, options?: object) => Transport;
}

/** Every protocol of connect-es, over every HTTP version that supports it, in both formats. */
export const clientProtocols: readonly ClientProtocol[] = (["1.1", "2"] as const).flatMap((version) =>
  [false, true].flatMap((useBinaryFormat): ClientProtocol[] => {
    const settings = ({ url }: RpcServer) => ({ baseUrl: url, httpVersion: version, useBinaryFormat });
    const tail = `${useBinaryFormat ? "binary" : "JSON"} over HTTP/${version}`;
    const connect: ClientProtocol = {
      name: `Connect ${tail}`,
      version,
      transport: (server, options) => createConnectTransport({ ...settings(server), ...options }),
    };
    const grpcWeb: ClientProtocol = {
      name: `gRPC-Web ${tail}`,
      version,
      transport: (server, options) => createGrpcWebTransport({ ...settings(server), ...options }),
    };
    const grpc: ClientProtocol = {
      name: `gRPC ${tail}`,
      version,
      transport: ({ url }, options) => createGrpcTransport({ baseUrl: url, useBinaryFormat, ...options }),
    };
    return version === "2" ? [connect, grpcWeb, grpc] : [connect, grpcWeb];
  }),
);
