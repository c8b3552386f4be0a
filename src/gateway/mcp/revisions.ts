import type { HeaderReader } from "../../chain/call.ts";
import { isObject, RpcError, type RpcMessage, rpcCodes } from "./json-rpc.ts";

/** Revisions in which every request describes its client. They have no handshake. */
const selfContained = ["2026-07-28"] as const;

/** Revisions that start with a handshake. This server needs nothing from it, so it keeps no sessions. */
const handshaking = ["2025-11-25", "2025-06-18"] as const;

type HandshakeRevision = (typeof handshaking)[number];

/** A revision of the protocol. */
export type Revision = (typeof selfContained)[number] | HandshakeRevision;

/** All revisions, the newest first. */
export const revisions: readonly Revision[] = [...selfContained, ...handshaking];

/** Protocol metadata of a request. */
export interface Envelope {
  readonly revision: Revision;
  /** Whether the request describes its client itself. */
  readonly isSelfContained: boolean;
  /** Whether the client can show a form to its user and return the answer with a repeated request. */
  readonly canElicit: boolean;
}

const versionKey = "io.modelcontextprotocol/protocolVersion";
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";

/** Finds the revision of a message, and verifies that its headers match it. Throws RpcError if they do not. */
export function readEnvelope(message: RpcMessage, header: HeaderReader): Envelope {
  const declared = header("mcp-protocol-version")?.trim();
  const meta = isObject(message.params._meta) ? message.params._meta : {};
  const isHandshaking = declared === undefined || handshaking.some((each) => each === declared);
  if (isHandshaking && meta[versionKey] === undefined && message.method !== "server/discover") {
    // Without a header the client is of the oldest revision that it can be.
    return { revision: (declared ?? handshaking.at(-1)!) as Revision, isSelfContained: false, canElicit: false };
  }
  if (declared !== undefined && !revisions.some((each) => each === declared) && meta[versionKey] === undefined) {
    throw unsupported(declared);
  }
  if (message.id !== undefined) requireMeta(message, meta, declared);
  else if (!isSelfContained(declared)) throw unsupported(declared ?? "");
  const method = header("mcp-method");
  if (method?.trim() !== message.method) {
    throw mismatch(`The header Mcp-Method must be the method of the body: ${message.method}.`);
  }
  if (message.method === "tools/call" && nameIn(header) !== message.params.name) {
    throw mismatch("The header Mcp-Name must be the name of the tool in the body.");
  }
  return { revision: declared as Revision, isSelfContained: true, canElicit: canElicit(meta[capabilitiesKey]) };
}

/** The revision of the response to a handshake: the client's, or the newest one if that is not known. */
export function negotiate(requested: unknown): HandshakeRevision {
  return handshaking.find((each) => each === requested) ?? handshaking[0];
}

function requireMeta({ method }: RpcMessage, meta: Readonly<Record<string, unknown>>, declared: string | undefined) {
  for (const key of [versionKey, capabilitiesKey]) {
    const isValid = key === versionKey ? typeof meta[key] === "string" : isObject(meta[key]);
    if (!isValid) {
      throw new RpcError(rpcCodes.invalidParams, `${method}: params._meta must contain ${key}.`, { status: 400 });
    }
  }
  const version = meta[versionKey] as string;
  if (declared !== version) {
    throw mismatch(`The header MCP-Protocol-Version must be the version in params._meta: ${version}.`);
  }
  if (!isSelfContained(version)) throw unsupported(version);
}

function isSelfContained(version: string | undefined): boolean {
  return selfContained.some((each) => each === version);
}

function canElicit(capabilities: unknown): boolean {
  const elicitation = isObject(capabilities) ? capabilities.elicitation : undefined;
  // Without a mode, a client supports forms.
  return isObject(elicitation) && (isObject(elicitation.form) || elicitation.url === undefined);
}

/** The tool in the header Mcp-Name. A name that is not plain ASCII is in Base64. */
function nameIn(header: HeaderReader): string | undefined {
  const value = header("mcp-name")?.trim();
  const [, encoded] = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(value ?? "") ?? [];
  return encoded === undefined ? value : Buffer.from(encoded, "base64").toString("utf8");
}

function mismatch(message: string): RpcError {
  return new RpcError(rpcCodes.headerMismatch, message, { status: 400 });
}

function unsupported(requested: string): RpcError {
  return new RpcError(
    rpcCodes.unsupportedVersion,
    `The protocol version is not supported. Use one of ${revisions.join(", ")}.`,
    { status: 400, data: { supported: revisions, requested } },
  );
}
