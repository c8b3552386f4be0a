import type { Message } from "@bufbuild/protobuf";
import type { ReturnedFields } from "../../chain/returned-record.ts";
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
 * changes under another name, such as `roles` in `role_set`, is put there.
 */
export function createBodyDivider({ type, readOnly, wrapped }: UpdatedRecord): (json: unknown) => DividedBody {
  const decode = createJsonDecoder(type);
  return (json) => {
    const isObject = typeof json === "object" && json !== null && !Array.isArray(json);
    const names = isObject ? Object.keys(json).filter((name) => readOnly.has(name)) : [];
    if (names.length === 0) return { request: json, returned: undefined };
    const body = json as Json;
    const request: Json = Object.fromEntries(Object.entries(body).filter(([name]) => !readOnly.has(name)));
    const fields = names.map((name) => readOnly.get(name)!);
    const wrappers = fields.flatMap((field) => {
      const wrapper = wrapped.get(field.name);
      return wrapper === undefined ? [] : [{ field, wrapper }];
    });
    for (const { field, wrapper } of wrappers) {
      if (Object.hasOwn(body, wrapper.name)) throw givenTwice(field.name, wrapper.name);
      request[wrapper.name] = { [field.name]: body[field.name] };
    }
    const record: Message = decode(Object.fromEntries(names.map((name) => [name, body[name]])), { strict: true });
    return { request, returned: { record, fields, wrapped: wrappers } };
  };
}

function givenTwice(field: string, wrapper: string) {
  return toViolationFailure([
    { field, rule: "duplicate_field", message: `must not be given together with ${wrapper}, which changes it` },
  ]);
}
