import { type DescField, type DescMessage, getOption, hasOption } from "@bufbuild/protobuf";
import { observed } from "../../gen/service/options/governance_pb.ts";
import type { HttpBinding, Operation } from "./operation.ts";

/** The record that an update changes, with the operation that reads it. */
export interface UpdatedRecord {
  readonly type: DescMessage;
  readonly reader: Operation;
  /** The field of the reader's response that holds the record. */
  readonly read: DescField;
  /** Fields of the record that the update cannot change, by name. */
  readonly readOnly: ReadonlyMap<string, DescField>;
  /**
   * Fields of the record that the update changes under another name, such as `roles` in `role_set`: a list has no presence,
   * so that a message around it tells an empty list from an absent one.
   */
  readonly wrapped: ReadonlyMap<string, DescField>;
  /** The field that every change of the record counts up, if the record has one. */
  readonly version: DescField | undefined;
}

/**
 * Finds the record that an update returns and another operation of its service reads, so that a caller can read it, edit it
 * and send it back. Undefined for an operation that is no update, or whose record cannot be read by itself.
 */
export function findUpdatedRecord(operation: Operation, operations: readonly Operation[]): UpdatedRecord | undefined {
  const binding = operation.bindings.find(({ verb, body }) => (verb === "PUT" || verb === "PATCH") && body === "*");
  const type = binding && recordOf(operation, binding)?.message;
  if (type === undefined) return undefined;
  const { input } = operation.method;
  const readers = operations.flatMap((each) => {
    const read = each.service === operation.service && !each.streaming ? readerField(each, type) : undefined;
    const isNamed = each.method.input.fields.every(({ name }) => input.fields.some((field) => field.name === name));
    return read !== undefined && isNamed ? [{ reader: each, read }] : [];
  });
  const samePath = readers.find(({ reader }) => reader.bindings.some(({ path }) => path === binding!.path));
  const found = samePath ?? readers[0];
  if (found === undefined) return undefined;
  const own = new Set(input.fields.map(({ name }) => name));
  const others = type.fields.filter(({ name }) => !own.has(name));
  const wrapped = others.flatMap((field) => {
    const wrapper = wrapperOf(input, field);
    return wrapper === undefined ? [] : [[field.name, wrapper] as const];
  });
  return {
    type,
    ...found,
    readOnly: new Map(others.map((field) => [field.name, field])),
    wrapped: new Map(wrapped),
    version: type.field.recordVersion ?? (input.field.version && type.field.version),
  };
}

function recordOf({ method }: Operation, { responseBody }: HttpBinding): DescField | undefined {
  return method.output.fields.find(({ name, fieldKind }) => name === responseBody && fieldKind === "message");
}

function readerField(operation: Operation, type: DescMessage): DescField | undefined {
  const binding = operation.bindings.find(({ verb }) => verb === "GET");
  const field = binding && operation.paging === undefined ? recordOf(operation, binding) : undefined;
  return field?.message?.typeName === type.typeName ? field : undefined;
}

/** The field of a request whose message contains only a field of the same name and kind as a list or map of the record. */
function wrapperOf(input: DescMessage, { name, fieldKind }: DescField): DescField | undefined {
  if (fieldKind !== "list" && fieldKind !== "map") return undefined;
  return input.fields.find(({ message, fieldKind: kind }) => {
    const [only, ...more] = kind === "message" ? message!.fields : [];
    return only?.name === name && only.fieldKind === fieldKind && more.length === 0;
  });
}

/** Whether the service changes a field of a record by itself, so that a caller may send back an old value. */
export function isObserved(field: DescField): boolean {
  return hasOption(field, observed) && getOption(field, observed);
}
