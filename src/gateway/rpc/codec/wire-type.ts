/** The protocol of a request, determined by its content type. */
export type RpcProtocol = "connect_unary" | "connect_stream" | "grpc" | "grpc_web";

/** The format of messages. */
export type Format = "json" | "proto";

/** A parsed content type. */
export interface WireType {
  readonly protocol: RpcProtocol;
  readonly format: Format;
  /** Whether the body is base64 text, for browsers that cannot read binary streams. */
  readonly text: boolean;
  /** The content type of the response, which is the request's. */
  readonly contentType: string;
}

const wireTypes = new Map<string, WireType>(
  [
    wireType("application/json", "connect_unary", "json"),
    wireType("application/proto", "connect_unary", "proto"),
    wireType("application/connect+json", "connect_stream", "json"),
    wireType("application/connect+proto", "connect_stream", "proto"),
    wireType("application/grpc", "grpc", "proto"),
    wireType("application/grpc+proto", "grpc", "proto"),
    wireType("application/grpc+json", "grpc", "json"),
    wireType("application/grpc-web", "grpc_web", "proto"),
    wireType("application/grpc-web+proto", "grpc_web", "proto"),
    wireType("application/grpc-web+json", "grpc_web", "json"),
    wireType("application/grpc-web-text", "grpc_web", "proto", true),
    wireType("application/grpc-web-text+proto", "grpc_web", "proto", true),
  ].map((type) => [type.contentType, type]),
);

function wireType(contentType: string, protocol: RpcProtocol, format: Format, text = false): WireType {
  return { protocol, format, text, contentType };
}

/** Parses a content type; undefined if no supported protocol uses it. */
export function wireTypeOf(contentType: string | undefined): WireType | undefined {
  if (contentType === undefined) return undefined;
  return wireTypes.get(contentType) ?? wireTypes.get(withoutCharset(contentType));
}

/** The content types of the protocols, in the format of Accept-Post. */
export function contentTypesOf(protocols: readonly RpcProtocol[]): string {
  return [...wireTypes.values()]
    .filter(({ protocol }) => protocols.includes(protocol))
    .map(({ contentType }) => contentType)
    .join(", ");
}

function withoutCharset(contentType: string): string {
  return contentType
    .toLowerCase()
    .replace(/;\s*charset\s*=\s*"?utf-8"?\s*$/, "")
    .trim();
}
