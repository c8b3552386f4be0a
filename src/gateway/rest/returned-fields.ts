import type { Message } from "@bufbuild/protobuf";
import type { ReturnedFields } from "../../chain/returned-fields.ts";
import type { UpdatedRecord } from "../../definitions/index.ts";
import { createJsonDecoder, toViolationFailure } from "../../platform/protojson/index.ts";

type Json = Record<string, unknown>;

/** A body, divided into what the update changes and what else the caller sends back of the record. */
interface DividedBody {
  readonly request: unknown;
  readonly returned: ReturnedFields | undefined;
}

/**
 * Creates the function that takes the read-only fields of a record out of the body of an update. A list that the update
 * changes under another name, such as `roles` in `role_set`, is moved there.
 */
export function createBodyDivider({ type, readOnly, renamed }: UpdatedRecord): (json: unknown) => DividedBody {
  const decode = createJsonDecoder(type);
  return (json) => {
    const isObject = typeof json === "object" && json !== null && !Array.isArray(json);
    const names = isObject ? Object.keys(json).filter((name) => readOnly.has(name)) : [];
    if (names.length === 0) return { request: json, returned: undefined };
    const body = json as Json;
    const request: Json = Object.fromEntries(Object.entries(body).filter(([name]) => !readOnly.has(name)));
    const fields = names.map((name) => readOnly.get(name)!);
    const moved = fields.flatMap((field) => {
      const target = renamed.get(field.name);
      return target === undefined ? [] : [{ field, ...target }];
    });
    for (const { field, request: target, isWrapper } of moved) {
      const value = body[field.name];
      if (Object.hasOwn(body, target.name)) throw givenTwice(field.name, target.name);
      request[target.name] = isWrapper ? { [field.name]: value } : value;
    }
    const record: Message = decode(Object.fromEntries(names.map((name) => [name, body[name]])), { strict: true });
    return { request, returned: { record, fields, moved } };
  };
}

function givenTwice(field: string, other: string) {
  return toViolationFailure([
    { field, rule: "duplicate_field", message: `must not be given together with ${other}, which changes it` },
  ]);
}
