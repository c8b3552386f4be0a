import { protoCamelCase, protoSnakeCase } from "@bufbuild/protobuf/reflect";

const pathShape = /^[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z][A-Za-z0-9_]*)*$/;

/** Formats the paths of a field mask, in lowerCamel or unchanged. */
export function formatFieldMask(paths: readonly string[], camel: boolean): string {
  return (camel ? paths.map(protoCamelCase) : paths).join(",");
}

/** Parses the paths of a field mask, in either naming, to proto names; undefined if a path is invalid. */
export function parseFieldMask(text: string): string[] | undefined {
  if (text === "") return [];
  const paths = text.split(",");
  return paths.every((path) => pathShape.test(path)) ? paths.map(toSnakeCase) : undefined;
}

// A path with underscores is already a proto name; only lowerCamel paths are converted.
function toSnakeCase(path: string): string {
  return path.includes("_") ? path : protoSnakeCase(path);
}
