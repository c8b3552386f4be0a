import type { DescEnum, DescMessage } from "@bufbuild/protobuf";

/** The name of a message or an enum as a type: `PoolStatus` for Pool.Status. */
export function typeNameOf(desc: DescMessage | DescEnum): string {
  return desc.typeName.slice(desc.file.proto.package.length + 1).replaceAll(".", "");
}
