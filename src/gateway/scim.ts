import { create } from "@bufbuild/protobuf";
import { type ScimRequest, ScimRequestSchema, type ScimResponse } from "../../gen/service/scim/scim_pb.ts";
import type { Next } from "../chain/call.ts";
import type { Operation } from "../definitions/index.ts";
import { Failure, fail } from "../errors/index.ts";
import type { PathHandler } from "./edge.ts";
import { createCall, type Exchange, headerOf, isDisconnected, readBody, writeHead } from "./exchange.ts";

interface Options {
  readonly operations: Readonly<Record<"read" | "write", Operation>>;
  readonly invoke: Next;
  /** Describes a failure in the form of SCIM. */
  readonly describeFailure: (failure: Failure) => Pick<ScimResponse, "status" | "headers" | "body">;
}

const prefix = "/scim/v2";

/**
 * Creates the SCIM endpoint, `/scim/v2`. SCIM defines its own paths, errors and pages; apart from these, its requests are calls
 * like all others.
 */
export function createScimEndpoint({ operations, invoke, describeFailure }: Options): PathHandler {
  return (exchange) => {
    const { path } = exchange;
    if (path !== prefix && !path.startsWith(`${prefix}/`)) return false;
    return serve(exchange).then(() => true);
  };

  async function serve(exchange: Exchange): Promise<void> {
    const method = exchange.request.method === "HEAD" ? "GET" : (exchange.request.method ?? "");
    const path = decoded(exchange.path.slice(prefix.length));
    const operation = method === "GET" || path.endsWith("/.search") ? operations.read : operations.write;
    const call = createCall(exchange, operation, "scim", (charge) => decode(exchange, method, path, charge));
    let response: Pick<ScimResponse, "status" | "headers" | "body">;
    try {
      response = (await invoke(call)) as ScimResponse;
    } catch (error) {
      response = describeFailure(error instanceof Failure ? error : fail("INTERNAL", { cause: error }));
    }
    send(exchange, response, call.responseHeaders);
  }
}

async function decode(
  exchange: Exchange,
  method: string,
  path: string,
  charge: ((bytes: number) => Promise<void> | undefined) | undefined,
): Promise<ScimRequest> {
  const { request, query } = exchange;
  const ifMatch = headerOf(request, "if-match");
  const ifNoneMatch = headerOf(request, "if-none-match");
  return create(ScimRequestSchema, {
    ...{ method, path, query, id: path.split("/")[2] ?? "" },
    ...(ifMatch !== undefined && { ifMatch }),
    ...(ifNoneMatch !== undefined && { ifNoneMatch }),
    ...(/^(POST|PUT|PATCH)$/.test(method) && { body: await bodyOf(exchange, charge) }),
  });
}

async function bodyOf(exchange: Exchange, charge?: (bytes: number) => Promise<void> | undefined): Promise<Uint8Array> {
  const type = headerOf(exchange.request, "content-type") ?? "application/scim+json";
  if (!/^application\/(scim\+)?json\s*(;|$)/i.test(type)) {
    throw fail("UNSUPPORTED_MEDIA_TYPE", { public: "The body must be application/scim+json." });
  }
  const body = await readBody(exchange);
  await charge?.(body.length);
  return body;
}

function send(
  exchange: Exchange,
  { status, headers, body }: Pick<ScimResponse, "status" | "headers" | "body">,
  callHeaders: Record<string, string>,
): void {
  if (isDisconnected(exchange)) return;
  const sent = { ...callHeaders, ...headers };
  if (status !== 204 && status !== 304) sent["content-length"] = String(Buffer.byteLength(body));
  const response = writeHead(exchange, status, sent);
  response.end(exchange.request.method === "HEAD" ? "" : body);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
