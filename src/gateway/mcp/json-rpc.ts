/** The id of a request, which its response repeats. */
export type RequestId = string | number;

/** A message of a client. A notification has no id and gets no response. */
export interface RpcMessage {
  readonly id: RequestId | undefined;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Codes of JSON-RPC and of the Model Context Protocol. */
export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  headerMismatch: -32020,
  unsupportedVersion: -32022,
} as const;

/** An error of the protocol, as opposed to one of a tool. */
export class RpcError extends Error {
  readonly code: number;
  /** The status of the HTTP response. */
  readonly status: number;
  readonly data: unknown;

  constructor(code: number, message: string, options: { readonly status: number; readonly data?: unknown }) {
    super(message);
    this.code = code;
    this.status = options.status;
    this.data = options.data;
  }
}

/**
 * Reads a message from parsed JSON; undefined if it is the response to a request, which this server never sends. Throws
 * RpcError if it is no message.
 */
export function readMessage(json: unknown): RpcMessage | undefined {
  if (Array.isArray(json)) throw invalidRequest("Send one message per request. Batches are not supported.");
  if (!isObject(json) || json.jsonrpc !== "2.0") {
    throw invalidRequest('The body must be a JSON-RPC message with "jsonrpc": "2.0".');
  }
  const { id, method, params = {} } = json;
  if (method === undefined && ("result" in json || "error" in json)) return undefined;
  if (typeof method !== "string") throw invalidRequest("method must be a string.");
  if (id !== undefined && typeof id !== "string" && !Number.isSafeInteger(id)) {
    throw invalidRequest("id must be a string or an integer.");
  }
  if (!isObject(params)) throw new RpcError(rpcCodes.invalidParams, "params must be an object.", { status: 400 });
  return { id: id as RequestId | undefined, method, params };
}

/** The id in parsed JSON, for the response to a message that cannot be read. */
export function idIn(json: unknown): RequestId | undefined {
  const id = isObject(json) ? json.id : undefined;
  return typeof id === "string" || Number.isSafeInteger(id) ? (id as RequestId) : undefined;
}

/** Writes the response to a request. `result` is JSON text. */
export function writeResult(id: RequestId, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

/** Writes the error of a request. The id is absent if it is not known. */
export function writeError(id: RequestId | undefined, { code, message, data }: RpcError): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } });
}

/** Whether a value is an object of JSON. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalidRequest(message: string): RpcError {
  return new RpcError(rpcCodes.invalidRequest, message, { status: 400 });
}
