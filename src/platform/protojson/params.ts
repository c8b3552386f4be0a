import { isDeepStrictEqual } from "node:util";
import { type DescField, type DescMessage, isFieldSet, type Message, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import type { Violation } from "../../errors/index.ts";
import { createMessageReader, createValueReader } from "./decode.ts";
import { createEnumReader, createScalarReader } from "./formats/scalars.ts";
import { depthMax, Problems, shortName } from "./problems.ts";
import { parseJson } from "./scan/parse.ts";
import { createMessageFactory, isStoredUnwrapped, type OneofSlot, type Slots } from "./shape.ts";

/** Reads a value from a parameter's text; reports a violation and returns undefined if it is invalid. */
type TextReader = (text: string, problems: Problems) => unknown;

/** A field that a parameter can address. */
interface Param {
  readonly field: DescField;
  /** Undefined for fields without a text form: maps and most messages. */
  readonly read: TextReader | undefined;
  /** Creates the nested message of a longer path. */
  readonly make: (() => Slots) | undefined;
}

/** The state of applying the parameters of one request. */
interface ParamContext {
  readonly source: "path" | "query";
  /** The paths of the fields that have been set. */
  readonly given: Set<string>;
  readonly problems: Problems;
}

const compiled = new WeakMap<DescMessage, ReadonlyMap<string, Param>>();

/**
 * Sets fields of a message from path variables or query parameters, given as pairs of a dotted field path and a text.
 *
 * A field that already has a different value, from the body or the path, is a violation and is not overwritten. Returns all
 * violations; the message must not be used if there are any.
 */
export function applyParams(
  desc: DescMessage,
  message: Message,
  params: readonly (readonly [path: string, value: string])[],
  source: "path" | "query",
): Violation[] {
  if (params.length === 0) return [];
  const context: ParamContext = { source, given: new Set(), problems: new Problems() };
  for (const [path, text] of params) applyParam(context, desc, message as Slots, path, text);
  return context.problems.violations;
}

function applyParam(context: ParamContext, desc: DescMessage, message: Slots, path: string, text: string): void {
  const { problems } = context;
  const segments = path.split(".");
  let slots = message;
  let params = paramsOf(desc);
  let canonical = "";
  for (let i = 0; i < segments.length; i++) {
    const last = i === segments.length - 1;
    const param = params.get(segments[i]!);
    if (param === undefined || (!last && param.make === undefined) || segments.length > depthMax) {
      addUnknown(context, params, path, segments[i]!);
      return;
    }
    canonical += i === 0 ? param.field.name : `.${param.field.name}`;
    const before = problems.count;
    if (last) {
      setField(context, param, slots, canonical, text);
    } else {
      slots = openNested(param, slots, problems);
      params = paramsOf(param.field.message!);
    }
    if (problems.count !== before) {
      problems.under(canonical, before);
      return;
    }
  }
}

function setField({ source, given, problems }: ParamContext, param: Param, slots: Slots, path: string, text: string) {
  const { field, read } = param;
  if (read === undefined) {
    problems.add("type.parameter", `cannot be given as a ${source} parameter`);
    return;
  }
  const first = !given.has(path);
  const list = field.fieldKind === "list";
  if (!first && !list) {
    problems.add("duplicate_field", `must not be given more than once as a ${source} parameter`);
    return;
  }
  given.add(path);
  const before = problems.count;
  const value = read(text, problems);
  if (problems.count !== before) return;
  if (list && !first) {
    (slots[field.localName] as unknown[]).push(value);
    return;
  }
  const wanted = list ? [value] : value;
  if (isFieldSet(slots, field) && !isDeepStrictEqual(slotOf(slots, field), wanted)) {
    problems.add("conflicting_value", `must have the same value as a ${source} parameter and elsewhere in the request`);
  } else {
    assign(slots, field, wanted, problems);
  }
}

/** Returns the nested message of a path, and creates it if it is not set. */
function openNested(param: Param, slots: Slots, problems: Problems): Slots {
  const { field } = param;
  if (isFieldSet(slots, field)) return slotOf(slots, field) as Slots;
  const nested = param.make!();
  assign(slots, field, nested, problems);
  return nested;
}

function slotOf(slots: Slots, field: DescField): unknown {
  return field.oneof === undefined ? slots[field.localName] : (slots[field.oneof.localName] as OneofSlot).value;
}

function assign(slots: Slots, field: DescField, value: unknown, problems: Problems): void {
  if (field.oneof === undefined) {
    slots[field.localName] = value;
    return;
  }
  const { localName } = field.oneof;
  const already = (slots[localName] as OneofSlot).case;
  if (already !== undefined && already !== field.localName) {
    problems.add("oneof", "must not be given together with another field of its group");
  } else {
    slots[localName] = { case: field.localName, value };
  }
}

function paramsOf(desc: DescMessage): ReadonlyMap<string, Param> {
  const known = compiled.get(desc);
  if (known !== undefined) return known;
  const params = new Map<string, Param>();
  for (const field of desc.fields) {
    const param = { field, read: createTextReader(field), make: factoryOf(field) };
    params.set(field.name, param);
  }
  compiled.set(desc, params);
  return params;
}

/** Reports a parameter that does not exist. A name in lowerCamel gets its spelling in the definition. */
function addUnknown(
  { source, problems }: ParamContext,
  params: ReadonlyMap<string, Param>,
  path: string,
  name: string,
): void {
  const fields = [...params.values()].map(({ field }) => field);
  const camel = fields.find((field) => field.jsonName === name && field.name !== name);
  if (camel !== undefined) problems.add("unknown_field", `is called ${camel.name} here`, shortName(path));
  else problems.addUnknownField(name, `${source} parameter`, new Set(fields.map((field) => field.name)), path);
}

function factoryOf(field: DescField): Param["make"] {
  if (field.fieldKind !== "message" || createMessageTextReader(field) !== undefined) return undefined;
  return createMessageFactory(field.message);
}

function createTextReader(field: DescField): TextReader | undefined {
  if (field.fieldKind === "map") return undefined;
  if (field.enum !== undefined) {
    return createEnumReader(field.enum);
  }
  if (field.message !== undefined) return createMessageTextReader(field);
  return createScalarTextReader(field.scalar, field.longAsString);
}

function createScalarTextReader(scalar: ScalarType, longAsString: boolean): TextReader {
  const read = createScalarReader(scalar, longAsString);
  if (scalar !== ScalarType.BOOL) return read;
  return (text, problems) => {
    if (text !== "true" && text !== "false") return problems.add("type.bool", "must be true or false");
    return text === "true";
  };
}

/** Creates the reader of a message that has a text form. */
function createMessageTextReader(field: DescField & { message: DescMessage }): TextReader | undefined {
  const desc = field.message;
  if (isWrapperDesc(desc)) {
    const read = createScalarTextReader(desc.fields[0].scalar, false);
    if (isStoredUnwrapped(field)) return read;
    return (text, problems) => ({ $typeName: desc.typeName, value: read(text, problems) });
  }
  switch (desc.typeName) {
    case "google.protobuf.Timestamp":
    case "google.protobuf.Duration":
    case "google.protobuf.FieldMask":
      return createMessageReader(desc);
    case "google.protobuf.Struct":
    case "google.protobuf.Value":
    case "google.protobuf.ListValue": {
      const read = createValueReader(field);
      return (text, problems) => {
        const json = tryParseJson(text);
        return json === undefined ? problems.add("type.json", "must be JSON") : read(json, problems);
      };
    }
    default:
      return undefined;
  }
}

function tryParseJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
