import { type DescField, type DescMessage, getOption, hasOption } from "@bufbuild/protobuf";
import { type FieldRules, field as fieldOption } from "../../../gen/buf/validate/validate_pb.ts";

/** The place of a violation in a request. */
export interface Place {
  /** The object or the list that holds the value. */
  readonly holder: object;
  readonly key: string | number;
  /** The value as sent; undefined if it is absent. */
  readonly value: unknown;
  /** The JSON Pointer (RFC 6901) of the holder, and of the value. */
  readonly holderPointer: string;
  readonly pointer: string;
  /** The message types of the holder and of the objects around it, outermost first; undefined for free JSON. */
  readonly types: readonly (DescMessage | undefined)[];
  /** The objects of these types, with their pointers. */
  readonly objects: readonly { readonly value: unknown; readonly pointer: string }[];
  /** The field of the definition; undefined in free JSON and for unknown names. */
  readonly field: DescField | undefined;
  /** Whether the value is one item of a list or a map. */
  readonly isItem: boolean;
  /** The names on the way to the value, without positions. */
  readonly names: readonly string[];
}

/** The types whose JSON is not an object with their fields. */
const freeForm = /^google\.protobuf\./;

/** Finds the place of a violation's field in the JSON of a message; undefined if the path does not lead to a holder. */
export function findPlace(desc: DescMessage, json: unknown, path: string): Place | undefined {
  const segments = splitPath(path);
  if (segments === undefined) return undefined;
  let place: Place | undefined;
  let value = json;
  let pointer = "";
  const types: (DescMessage | undefined)[] = [desc];
  const objects: Place["objects"][number][] = [{ value, pointer }];
  const names: string[] = [];
  let field: DescField | undefined;
  let isItem = false;
  for (const segment of segments) {
    if (typeof value !== "object" || value === null) return undefined;
    const type = types.at(-1);
    let key = segment;
    if (typeof segment === "number") {
      if (!Array.isArray(value)) return undefined;
      isItem = true;
    } else if (field?.fieldKind === "map" && !isItem) {
      isItem = true;
      names.push(segment);
    } else {
      if (Array.isArray(value)) return undefined;
      field = type?.fields.find(({ name, jsonName }) => name === segment || jsonName === segment);
      isItem = false;
      if (field !== undefined && !Object.hasOwn(value, segment) && Object.hasOwn(value, field.jsonName)) {
        key = field.jsonName;
      }
      names.push(segment);
    }
    const holderPointer = pointer;
    pointer = `${pointer}/${escapePointer(String(key))}`;
    const holder = value;
    value = Object.hasOwn(holder, key) ? (holder as Record<string | number, unknown>)[key] : undefined;
    place = {
      ...{ holder, key, value, holderPointer, pointer, field, isItem },
      ...{ types: [...types], objects: [...objects], names: [...names] },
    };
    const isMessage = field?.message !== undefined && (isItem || field.fieldKind === "message");
    const next = isMessage && !freeForm.test(field!.message!.typeName) ? field!.message : undefined;
    // Between a list or a map and its items, the field stays the same.
    if (isItem || (field?.fieldKind !== "list" && field?.fieldKind !== "map")) {
      types.push(next);
      objects.push({ value, pointer });
    }
  }
  return place;
}

/** Splits a path such as `quotas["route"].limits[0]`; undefined if it cannot be split, or is shortened. */
function splitPath(path: string): (string | number)[] | undefined {
  const segments: (string | number)[] = [];
  const part = /\.?([^.[\]"…]+)|\[(\d+)\]|\[("(?:[^"\\…]|\\.)*")\]/y;
  while (part.lastIndex < path.length) {
    const match = part.exec(path);
    if (match === null) return undefined;
    const [, name, position, quoted] = match;
    const segment = name ?? (position === undefined ? readQuoted(quoted!) : Number(position));
    if (segment === undefined) return undefined;
    segments.push(segment);
  }
  return segments;
}

/** A quoted key; undefined for the name of a member that only looks like one. */
function readQuoted(text: string): string | undefined {
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}

/** Escapes a name for a JSON Pointer. */
export function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Whether values of a field are secret, or contain something secret. */
export function isSecret(field: DescField, seen = new Set<DescMessage>()): boolean {
  if (field.proto.options?.debugRedact === true) return true;
  const { message } = field;
  if (message === undefined || seen.has(message)) return false;
  seen.add(message);
  return message.fields.some((each) => isSecret(each, seen));
}

/** The rules of a value in the definition; those of one item for an item. */
export function rulesAt({ field, isItem }: Place): FieldRules | undefined {
  if (field === undefined || !hasOption(field, fieldOption)) return undefined;
  const rules = getOption(field, fieldOption);
  if (!isItem) return rules;
  if (rules.type.case === "repeated") return rules.type.value.items;
  return rules.type.case === "map" ? rules.type.value.values : undefined;
}
