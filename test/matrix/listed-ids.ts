import { type DescField, ScalarType } from "@bufbuild/protobuf";
import type { Operation } from "../../src/definitions/index.ts";
import type { Json } from "../harness/operations.ts";

/** An id inside a list of a request; each item of the list has its own result. */
export interface ListedId {
  /** The path of the field, such as `items.queue_item_id`. */
  readonly path: string;
  /** The first id of a request. */
  read(request: Json): string;
  /** The list of the request with only this id. */
  replace(request: Json, id: string): Json;
}

/** The ids inside lists of an operation's request. */
export function listedIds({ method }: Operation): ListedId[] {
  return method.input.fields.flatMap((field) => {
    if (field.fieldKind !== "list") return [];
    if (field.listKind === "message") {
      return field.message.fields.filter(isId).map(({ name }) => ofMessages(field.name, name));
    }
    return field.scalar === ScalarType.STRING && field.name.endsWith("_ids") ? [ofTexts(field.name)] : [];
  });
}

function isId({ name, scalar }: DescField): boolean {
  return scalar === ScalarType.STRING && name.endsWith("_id");
}

function ofMessages(list: string, name: string): ListedId {
  const first = (request: Json) => (request[list] as Json[])[0]!;
  return {
    path: `${list}.${name}`,
    read: (request) => first(request)[name] as string,
    replace: (request, id) => ({ [list]: [{ ...first(request), [name]: id }] }),
  };
}

function ofTexts(list: string): ListedId {
  return {
    path: list,
    read: (request) => (request[list] as string[])[0]!,
    replace: (_, id) => ({ [list]: [id] }),
  };
}
