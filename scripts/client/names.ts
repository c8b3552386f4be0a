import type { DescEnum, DescMessage } from "@bufbuild/protobuf";

/** The name of a message or an enum as a type: `PoolStatus` for Pool.Status. */
export function typeNameOf(desc: DescMessage | DescEnum): string {
  return desc.typeName.slice(desc.file.proto.package.length + 1).replaceAll(".", "");
}

/** The module of a definition file: `pool` for service/api/pool.proto. */
export function moduleOf({ file }: { readonly file: { readonly name: string } }): string {
  return file.name.slice(file.name.lastIndexOf("/") + 1).replaceAll("_", "-");
}

/** Writes a documentation comment. */
export function docComment(text: string, indent = ""): string {
  const safe = text.replaceAll("*/", "*\u200b/");
  return safe === "" ? "" : `${indent}/** ${safe} */\n`;
}
