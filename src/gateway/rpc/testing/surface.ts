/** For tests: an RPC surface on a loopback port, and foreign clients for it. */
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

export interface Surface {
  readonly url: string;
  readonly port: number;
}

// Nothing stops in these tests.
const stopping = new AbortController().signal;

type Settings = Partial<RpcOptions> & { readonly bodyBytesMax?: number };

/** Starts a surface that ends with the test. */
export async function startSurface(test: TestContext, version: "1.1" | "2", settings: Settings): Promise<Surface> {
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
      bodyBytesMax,
      bodyTimeoutMs: 30_000,
      stopping,
      headers: {},
    };
    if (!handler.matches(exchange)) throw new Error(`${path} does not match`);
    // A rejection is left unhandled on purpose: it fails the test.
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

/** Answers GetTenant with the id that was asked for. */
async function echoTenant(call: Call) {
  const { tenantId } = (await call.decode()) as unknown as { tenantId: string };
  return create(GetTenantResponseSchema, { tenant: { id: tenantId, name: "Näme" } });
}

/** A way in which foreign clients call. */
export interface Dialect {
  readonly name: string;
  readonly version: "1.1" | "2";
  readonly transport: (surface: Surface, options?: object) => Transport;
}

/** Every protocol that connect-es speaks, over every HTTP version that carries it, in both formats. */
export const dialects: readonly Dialect[] = (["1.1", "2"] as const).flatMap((version) =>
  [false, true].flatMap((useBinaryFormat): Dialect[] => {
    const settings = ({ url }: Surface) => ({ baseUrl: url, httpVersion: version, useBinaryFormat });
    const tail = `${useBinaryFormat ? "binary" : "JSON"} over HTTP/${version}`;
    const connect: Dialect = {
      name: `Connect ${tail}`,
      version,
      transport: (surface, options) => createConnectTransport({ ...settings(surface), ...options }),
    };
    const grpcWeb: Dialect = {
      name: `gRPC-Web ${tail}`,
      version,
      transport: (surface, options) => createGrpcWebTransport({ ...settings(surface), ...options }),
    };
    const grpc: Dialect = {
      name: `gRPC ${tail}`,
      version,
      transport: ({ url }, options) => createGrpcTransport({ baseUrl: url, useBinaryFormat, ...options }),
    };
    return version === "2" ? [connect, grpcWeb, grpc] : [connect, grpcWeb];
  }),
);
