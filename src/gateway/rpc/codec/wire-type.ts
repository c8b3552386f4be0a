/** The protocol that a request speaks, told by its content type. */
export type Family = "connect_unary" | "connect_stream" | "grpc" | "grpc_web";

/** How messages are written. */
export type Format = "json" | "proto";

/** What a content type says about a request and its answer. */
export interface WireType {
  readonly family: Family;
  readonly format: Format;
  /** Whether the body is base64 text, for browsers that cannot read binary streams. */
  readonly text: boolean;
  /** The content type of the answer: the one that was asked with. */
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

function wireType(contentType: string, family: Family, format: Format, text = false): WireType {
  return { family, format, text, contentType };
}

/** Reads a content type; undefined for one that no protocol here speaks. */
export function wireTypeOf(contentType: string | undefined): WireType | undefined {
  if (contentType === undefined) return undefined;
  return wireTypes.get(contentType) ?? wireTypes.get(withoutCharset(contentType));
}

/** The content types of some protocols, as Accept-Post lists them. */
export function contentTypesOf(families: readonly Family[]): string {
  return [...wireTypes.values()]
    .filter(({ family }) => families.includes(family))
    .map(({ contentType }) => contentType)
    .join(", ");
}

function withoutCharset(contentType: string): string {
  return contentType
    .toLowerCase()
    .replace(/;\s*charset\s*=\s*"?utf-8"?\s*$/, "")
    .trim();
}
