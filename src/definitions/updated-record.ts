import { type DescField, type DescMessage, getOption, hasOption } from "@bufbuild/protobuf";
import { observed, record_field as recordField } from "../../gen/service/options/governance_pb.ts";
import type { HttpBinding, Operation } from "./operation.ts";

/** The record that an update changes, with the operation that reads it. */
export interface UpdatedRecord {
  readonly type: DescMessage;
  readonly reader: Operation;
  /** The field of the reader's response that holds the record. */
  readonly read: DescField;
  /** Fields of the record that the update cannot change, by name. */
  readonly readOnly: ReadonlyMap<string, DescField>;
  /** Fields of the record that the update changes under another name. */
  readonly renamed: ReadonlyMap<string, RenamedField>;
  /** The field that every change of the record counts up, if the record has one. */
  readonly version: DescField | undefined;
}

/** A field of a request that changes a field of the record with another name. */
export interface RenamedField {
  readonly request: DescField;
  /**
   * Whether it is a message around the value, such as `role_set` around `roles`: a list has no presence, so that the message
   * tells an empty list from an absent one.
   */
  readonly isWrapper: boolean;
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
    if (read === undefined) return [];
    const isNamed = each.method.input.fields.every(({ name }) => input.fields.some((field) => field.name === name));
    return isNamed ? [{ reader: each, read }] : [];
  });
  const samePath = readers.find(({ reader }) => reader.bindings.some(({ path }) => path === binding!.path));
  const found = samePath ?? readers[0];
  if (found === undefined) return undefined;
  const own = new Set(input.fields.map(({ name }) => name));
  const others = type.fields.filter(({ name }) => !own.has(name));
  const renamed = others.flatMap((field) => {
    const request = renamedField(input, field);
    return request === undefined ? [] : [[field.name, request] as const];
  });
  return {
    type,
    ...found,
    readOnly: new Map(others.map((field) => [field.name, field])),
    renamed: new Map(renamed),
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

function renamedField(input: DescMessage, field: DescField): RenamedField | undefined {
  const named = input.fields.find(
    (each) => hasOption(each, recordField) && getOption(each, recordField) === field.name,
  );
  if (named !== undefined) return { request: named, isWrapper: false };
  const wrapper = wrapperOf(input, field);
  return wrapper && { request: wrapper, isWrapper: true };
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
