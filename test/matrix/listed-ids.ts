import { type DescField, ScalarType } from "@bufbuild/protobuf";
import type { Operation } from "../../src/definitions/index.ts";
import type { Json } from "../harness/operations.ts";

/** An id that a request names in a list; what came of each is told one by one. */
export interface ListedId {
  /** Where it stands, such as `items.queue_item_id`. */
  readonly path: string;
  /** The first one of a request. */
  read(request: Json): string;
  /** The request with this one alone. */
  replace(request: Json, id: string): Json;
}

/** The ids that an operation's request names in lists. */
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
    replace: (request, id) => ({ ...request, [list]: [{ ...first(request), [name]: id }] }),
  };
}

function ofTexts(list: string): ListedId {
  return {
    path: list,
    read: (request) => (request[list] as string[])[0]!,
    replace: (request, id) => ({ ...request, [list]: [id] }),
  };
}
