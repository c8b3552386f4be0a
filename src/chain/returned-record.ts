import { clearField, create, type DescField, type Message } from "@bufbuild/protobuf";
import { findUpdatedRecord, isObserved, type Operation, type UpdatedRecord } from "../definitions/index.ts";
import { Failure, type Violation } from "../errors/index.ts";
import { updateRefusal } from "../platform/db/index.ts";
import { createJsonEncoder, toViolationFailure } from "../platform/protojson/index.ts";
import { createMessageConverter } from "../platform/records/index.ts";
import { createMessageChecker } from "../platform/validation/index.ts";
import type { Call, Context, Handler, ServiceHandlers } from "./call.ts";
import type { ReturnedFields } from "./returned-fields.ts";

type Slots = Record<string, unknown>;

/** Carries out an update after the returned fields were compared with the record. */
export type ReturnedRecordCheck = (call: Call, context: Context, run: () => Promise<Message>) => Promise<Message>;

/** Creates the check of an update; undefined for an operation that is none, or whose record cannot be read. */
export function createReturnedRecordCheck(
  operation: Operation,
  operations: readonly Operation[],
  handlers: Readonly<Record<string, ServiceHandlers>>,
): ReturnedRecordCheck | undefined {
  const updated = findUpdatedRecord(operation, operations);
  if (updated === undefined) return undefined;
  const read = handlers[updated.reader.service.typeName]![updated.reader.method.localName];
  if (typeof read !== "function") throw new Error(`${updated.reader.id} cannot be called by ${operation.id}`);
  const encode = createJsonEncoder(updated.type, "proto");
  const toJson = (record: Message) => JSON.parse(encode(record)) as Slots;
  const validate = createMessageChecker(operation.method.input);
  const isPatch = operation.bindings.some(({ verb }) => verb === "PATCH");

  return async (call, context, run) => {
    const returned = call.returned!;
    const current = await readCurrent(read, updated, context, call.message!);
    if (current === undefined) {
      if (call.invalid !== undefined) throw call.invalid;
      // An update of a record that does not exist fails by itself. Otherwise it would create the record.
      await run();
      throw refusal(
        returned.fields,
        "is read-only, and the record does not exist yet; leave it out to create the record",
      );
    }
    const [given, stored] = [toJson(returned.record), toJson(current)];
    const isSame = ({ name }: DescField) => isEqual(given[name], stored[name]);
    const request = call.message as unknown as Slots;
    requireVersion(updated, call.message!, returned, current);
    const moved = new Set(returned.moved.map(({ field }) => field));
    const changed = returned.fields.filter((field) => !isObserved(field) && !moved.has(field) && !isSame(field));
    if (changed.length > 0) {
      throw refusal(changed, "is read-only and differs from the record; send the value that you read, or leave it out");
    }
    for (const { field, request: target, isWrapper } of returned.moved) {
      if (isWrapper && isSame(field)) request[target.localName] = undefined;
    }
    if (isPatch) dropUnchanged(updated, operation, call.message!, stored, toJson);
    // A value that only the service sets is not valid in a request, but it was dropped if it is unchanged.
    const failure = call.invalid && validate(call.message!);
    if (failure !== undefined) throw failure;
    return run();
  };
}

/** The stored record; undefined if there is none. */
async function readCurrent(read: Handler, { reader, read: field }: UpdatedRecord, context: Context, message: Message) {
  const from = message as unknown as Slots;
  const { input, output } = reader.method;
  const request = create(
    input,
    Object.fromEntries(input.fields.map(({ localName }) => [localName, from[localName]])) as never,
  );
  try {
    const response = createMessageConverter(output)(await read(context, request));
    return (response as unknown as Record<string, Message | undefined>)[field.localName];
  } catch (error) {
    if (error instanceof Failure && error.code === "NOT_FOUND") return undefined;
    throw error;
  }
}

/** A caller that read an older version gets a conflict, not a list of the fields that changed meanwhile. */
function requireVersion({ version }: UpdatedRecord, message: Message, returned: ReturnedFields, current: Message) {
  if (version === undefined) return;
  const versionIn = (holder: Message) => (holder as unknown as Slots)[version.localName] as bigint | number | undefined;
  const expected = versionIn(returned.fields.includes(version) ? returned.record : message);
  const stored = versionIn(current);
  if (expected === undefined || Number(expected) === 0 || expected === stored) return;
  throw updateRefusal({ recordVersion: Number(stored) }, "record");
}

/**
 * Removes the fields of a partial update that already have their value, so that a record which does not allow some change
 * accepts the same value.
 */
function dropUnchanged(
  { type, version }: UpdatedRecord,
  { bindings, method }: Operation,
  message: Message,
  stored: Slots,
  toJson: (record: Message) => Slots,
): void {
  const request = message as unknown as Slots;
  const inPath = new Set(bindings.flatMap(({ path }) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)));
  for (const field of method.input.fields) {
    const { name, localName } = field;
    const same = type.fields.find((each) => each.name === name && isSameKind(each, field));
    if (same === undefined || same === version || inPath.has(name) || request[localName] === undefined) continue;
    const holder = create(type);
    (holder as unknown as Slots)[same.localName] = request[localName];
    if (isEqual(toJson(holder)[name], stored[name])) clearField(message, field as never);
  }
}

function isSameKind(one: DescField, other: DescField): boolean {
  return (
    one.fieldKind === other.fieldKind &&
    one.scalar === other.scalar &&
    one.message?.typeName === other.message?.typeName &&
    one.enum?.typeName === other.enum?.typeName &&
    one.oneof === undefined &&
    other.oneof === undefined
  );
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

/** A JSON value whose objects have their members in a fixed order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, each]) => [name, sorted(each)]));
}

function refusal(fields: readonly DescField[], message: string): Failure {
  return toViolationFailure(fields.map(({ name }): Violation => ({ field: name, rule: "read_only", message })));
}
