import { isDeepStrictEqual } from "node:util";
import { type DescField, type DescMessage, isFieldSet, type Message, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import type { Violation } from "../../errors/index.ts";
import { messageReader, valueReader } from "./decode.ts";
import { enumReader, scalarReader } from "./formats/scalars.ts";
import { depthMax, Problems, shortName } from "./problems.ts";
import { parseJson } from "./scan/parse.ts";
import { keptUnwrapped, messageMaker, type OneofSlot, type Slots } from "./shape.ts";

/** Reads a value from a parameter's text; undefined after reporting what is wrong with it. */
type TextReader = (text: string, problems: Problems) => unknown;

/** A field as parameters reach it. */
interface Param {
  readonly field: DescField;
  /** Absent where no text can say the value: maps, and messages without a text form. */
  readonly read: TextReader | undefined;
  /** Makes the message that a longer path goes on into. */
  readonly make: (() => Slots) | undefined;
}

/** One run over the parameters of a request. */
interface Filling {
  readonly source: "path" | "query";
  /** The fields that this run has met, by their paths. */
  readonly given: Set<string>;
  readonly problems: Problems;
}

const compiled = new WeakMap<DescMessage, ReadonlyMap<string, Param>>();

/**
 * Fills a message from path variables or query parameters, given as pairs of a dotted field path and a text.
 *
 * Fields that already have another value, from the body or the path, are refused rather than overwritten. Answers every
 * violation; the message is only fit for use when there is none.
 */
export function applyParams(
  desc: DescMessage,
  message: Message,
  params: readonly (readonly [path: string, value: string])[],
  source: "path" | "query",
): Violation[] {
  if (params.length === 0) return [];
  const filling: Filling = { source, given: new Set(), problems: new Problems() };
  for (const [path, text] of params) applyParam(filling, desc, message as Slots, path, text);
  return filling.problems.violations;
}

function applyParam(filling: Filling, desc: DescMessage, message: Slots, path: string, text: string): void {
  const { problems } = filling;
  const segments = path.split(".");
  let slots = message;
  let params = paramsOf(desc);
  let canonical = "";
  for (let i = 0; i < segments.length; i++) {
    const last = i === segments.length - 1;
    const param = params.get(segments[i]!);
    if (param === undefined || (!last && param.make === undefined) || segments.length > depthMax) {
      addUnknown(filling, params, path, segments[i]!);
      return;
    }
    canonical += i === 0 ? param.field.name : `.${param.field.name}`;
    const before = problems.count;
    if (last) {
      fill(filling, param, slots, canonical, text);
    } else {
      slots = descend(param, slots, problems);
      params = paramsOf(param.field.message!);
    }
    if (problems.count !== before) {
      problems.under(canonical, before);
      return;
    }
  }
}

function fill({ source, given, problems }: Filling, param: Param, slots: Slots, path: string, text: string): void {
  const { field, read } = param;
  if (read === undefined) {
    problems.add("type.parameter", `cannot be given as a ${source} parameter`);
    return;
  }
  const first = !given.has(path);
  const list = field.fieldKind === "list";
  if (!first && !list) {
    problems.add("duplicate_field", `is given more than once as a ${source} parameter`);
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
    problems.add("conflicting_value", `has one value as a ${source} parameter and another elsewhere in the request`);
  } else {
    assign(slots, field, wanted, problems);
  }
}

/** The message that a path goes on into, made when it is not there yet. */
function descend(param: Param, slots: Slots, problems: Problems): Slots {
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
    const param = { field, read: textReaderOf(field), make: makerOf(field) };
    params.set(field.name, param);
  }
  compiled.set(desc, params);
  return params;
}

/** Reports a parameter that does not exist. A name in lowerCamel gets its spelling in the definition. */
function addUnknown(
  { source, problems }: Filling,
  params: ReadonlyMap<string, Param>,
  path: string,
  name: string,
): void {
  const fields = [...params.values()].map(({ field }) => field);
  const camel = fields.find((field) => field.jsonName === name && field.name !== name);
  if (camel !== undefined) problems.add("unknown_field", `is called ${camel.name} here`, shortName(path));
  else problems.addUnknownField(name, `${source} parameter`, new Set(fields.map((field) => field.name)), path);
}

function makerOf(field: DescField): Param["make"] {
  if (field.fieldKind !== "message" || messageTextReader(field) !== undefined) return undefined;
  return messageMaker(field.message);
}

function textReaderOf(field: DescField): TextReader | undefined {
  if (field.fieldKind === "map") return undefined;
  if (field.enum !== undefined) {
    return enumReader(field.enum);
  }
  if (field.message !== undefined) return messageTextReader(field);
  return scalarTextReader(field.scalar, field.longAsString);
}

function scalarTextReader(scalar: ScalarType, longAsString: boolean): TextReader {
  const read = scalarReader(scalar, longAsString);
  if (scalar !== ScalarType.BOOL) return read;
  return (text, problems) => {
    if (text !== "true" && text !== "false") return problems.add("type.bool", "must be true or false");
    return text === "true";
  };
}

/** The reader of a message that has a form as text. */
function messageTextReader(field: DescField & { message: DescMessage }): TextReader | undefined {
  const desc = field.message;
  if (isWrapperDesc(desc)) {
    const read = scalarTextReader(desc.fields[0].scalar, false);
    if (keptUnwrapped(field)) return read;
    return (text, problems) => ({ $typeName: desc.typeName, value: read(text, problems) });
  }
  switch (desc.typeName) {
    case "google.protobuf.Timestamp":
    case "google.protobuf.Duration":
    case "google.protobuf.FieldMask":
      return messageReader(desc);
    case "google.protobuf.Struct":
    case "google.protobuf.Value":
    case "google.protobuf.ListValue": {
      const read = valueReader(field);
      return (text, problems) => {
        const json = jsonOf(text);
        return json === undefined ? problems.add("type.json", "must be JSON") : read(json, problems);
      };
    }
    default:
      return undefined;
  }
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
