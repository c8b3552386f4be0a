import { protoCamelCase, protoSnakeCase } from "@bufbuild/protobuf/reflect";

const pathShape = /^[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z][A-Za-z0-9_]*)*$/;

/** Writes the paths of a mask, in lowerCamel or as they are. */
export function fieldMaskText(paths: readonly string[], camel: boolean): string {
  return (camel ? paths.map(protoCamelCase) : paths).join(",");
}

/** Reads the paths of a mask, in either spelling, as proto names; undefined when one is not a path. */
export function parseFieldMask(text: string): string[] | undefined {
  if (text === "") return [];
  const paths = text.split(",");
  return paths.every((path) => pathShape.test(path)) ? paths.map(snake) : undefined;
}

// A path that already has underscores is a proto name; only lowerCamel ones are turned.
function snake(path: string): string {
  return path.includes("_") ? path : protoSnakeCase(path);
}
