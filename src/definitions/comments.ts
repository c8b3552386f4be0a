import type { AnyDesc } from "@bufbuild/protobuf";
import { comments } from "../../gen/comments.ts";

/** The comment above a declaration in the .proto files; "" without one. */
export function commentOf(desc: AnyDesc): string {
  return comments[fullNameOf(desc)] ?? "";
}

function fullNameOf(desc: AnyDesc): string {
  switch (desc.kind) {
    case "field":
    case "oneof":
    case "rpc":
    case "enum_value":
      return `${desc.parent.typeName}.${desc.name}`;
    case "file":
      return desc.name;
    default:
      return desc.typeName;
  }
}
