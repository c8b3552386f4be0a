import { isDeepStrictEqual } from "node:util";
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { nearestName, plainName, snakeCase } from "../text/index.ts";
import { isGuardedField } from "./guard.ts";
import { type Change, isObject, type Mistake, toValue } from "./mistake.ts";
import { escapePointer } from "./place.ts";

/** Corrections of the names of members. */

const wrappedMembersMax = 50;

/** A name in another letter case, or with other separators: `maxAttempts`, `max-attempts`. */
export function respellName(mistake: Mistake): Change | undefined {
  const name = knownNames(mistake).find((each) => plainName(each) === plainName(String(mistake.place.key)));
  return name === undefined ? undefined : rename(mistake, name, "certain");
}

/** A name or a value that its reader repairs. */
export function repairMember(mistake: Mistake): Change | undefined {
  const repair = mistake.repair?.();
  if (repair === undefined) return undefined;
  if (typeof repair === "string") return toValue(mistake, repair, "likely");
  return "name" in repair ? rename(mistake, repair.name, "likely") : toValue(mistake, repair.value, "likely");
}

/** A mistyped name. */
export function correctName(mistake: Mistake): Change | undefined {
  const { key, holder } = mistake.place;
  const typed = snakeCase(String(key)).replaceAll("-", "_");
  if (typed.length > 100) return undefined;
  const near = nearestName(
    typed,
    knownNames(mistake).filter((name) => !Object.hasOwn(holder, name)),
  );
  return near === undefined ? undefined : rename(mistake, near, "likely");
}

/** A request within another object: `{"pool": {…}}`, `{"data": {…}}`. */
export function unwrapRequest({ place }: Mistake): Change | undefined {
  const { value, types, pointer, holder } = place;
  const known = new Set(types[0]?.fields.flatMap(({ name, jsonName }) => [name, jsonName]));
  if (types.length !== 1 || !isObject(value)) return undefined;
  const names = Object.keys(value);
  const fits = names.every((name) => known.has(name) && !Object.hasOwn(holder, name) && !isGuardedField([name]));
  if (names.length === 0 || names.length > wrappedMembersMax || !fits) return undefined;
  const moves = names.map((name) => {
    const path = `/${escapePointer(name)}`;
    return { op: "move" as const, from: pointer + path, path };
  });
  return { steps: [...moves, { op: "remove", path: pointer }], confidence: "likely" };
}

/** A member of another object: one that contains this object, or one that it contains. */
export function moveMember(mistake: Mistake): Change | undefined {
  const { place, violation } = mistake;
  const name = snakeCase(String(place.key)).replaceAll("-", "_");
  const outer = violation.field.slice(0, -String(place.key).length).replace(/\.$/, "");
  const type = place.types.at(-1);
  if (type === undefined) return undefined;
  const outerField = place.types.at(-2)?.fields.find((field) => field.name === name);
  if (outerField !== undefined) {
    const { value, pointer } = place.objects.at(-2)!;
    if (isGiven(value, outerField)) return undefined;
    const path = `${pointer}/${mistake.naming === "proto" ? name : outerField.jsonName}`;
    const target = [outer.replace(/(?:^|\.)[^.[\]]+(?:\[[^\]]*\])?$/, ""), name]
      .filter((each) => each !== "")
      .join(".");
    return { steps: [{ op: "move", from: place.pointer, path }], confidence: "likely", target };
  }
  const homes = nestedHomes(type, name).filter((way) => !isGuardedField(way.map((each) => each.name)));
  const [home] = homes;
  if (home === undefined || homes.length > 1) return undefined;
  const steps: Change["steps"][number][] = [];
  let holder: unknown = place.holder;
  let pointer = place.holderPointer;
  for (const field of home) {
    const key =
      isObject(holder) && Object.hasOwn(holder, field.jsonName) ? field.jsonName : nameOf(mistake, field.name);
    pointer += `/${escapePointer(key)}`;
    holder = isObject(holder) && Object.hasOwn(holder, key) ? holder[key] : undefined;
    if (holder === undefined) steps.push({ op: "add", path: pointer, value: {} });
    else if (!isObject(holder)) return undefined;
  }
  if (isGiven(holder, home.at(-1)!.message!.fields.find((each) => each.name === name)!)) return undefined;
  const target = [outer, ...home.map((each) => each.name), name].filter((each) => each !== "").join(".");
  steps.push({ op: "move", from: place.pointer, path: `${pointer}/${escapePointer(nameOf(mistake, name))}` });
  return { steps, confidence: "likely", target };
}

/** Whether an object has a field, under either of its names. */
function isGiven(holder: unknown, { name, jsonName }: DescField): boolean {
  return isObject(holder) && (Object.hasOwn(holder, name) || Object.hasOwn(holder, jsonName));
}

/** The ways to the single messages, at most two levels deep, that have a field with this name. */
function nestedHomes(type: DescMessage, name: string, levels = 2): DescField[][] {
  if (levels === 0) return [];
  return type.fields.flatMap((field) => {
    if (field.fieldKind !== "message" || field.message.typeName.startsWith("google.")) return [];
    const own = field.message.fields.some((each) => each.name === name) ? [[field]] : [];
    return [...own, ...nestedHomes(field.message, name, levels - 1).map((way) => [field, ...way])];
  });
}

/** A field under both of its names, with the same value. */
export function dropSecondName({ place }: Mistake): Change | undefined {
  const { field, holder, holderPointer } = place;
  if (field === undefined || field.jsonName === field.name) return undefined;
  const members = holder as Readonly<Record<string, unknown>>;
  if (!isDeepStrictEqual(members[field.name], members[field.jsonName])) return undefined;
  const path = `${holderPointer}/${escapePointer(field.jsonName)}`;
  return { steps: [{ op: "remove", path }], confidence: "certain" };
}

/** null for a member that is absent. In a change, null may mean to clear a field, and absent all records or production. */
export function dropNull({ place, isReading }: Mistake): Change | undefined {
  if (place.value !== null || place.isItem || !isReading) return undefined;
  return { steps: [{ op: "remove", path: place.pointer }], confidence: "certain" };
}

function knownNames({ place, otherNames }: Mistake): readonly string[] {
  return [...(place.types.at(-1)?.fields.map(({ name }) => name) ?? []), ...otherNames];
}

function rename(mistake: Mistake, name: string, confidence: Change["confidence"]): Change | undefined {
  const { place, violation, otherNames } = mistake;
  if (isGuardedField([name]) && !otherNames.includes(name)) return undefined;
  const to = otherNames.includes(name) ? name : nameOf(mistake, name);
  const members = place.holder as Readonly<Record<string, unknown>>;
  if (Object.hasOwn(members, to)) {
    if (!isDeepStrictEqual(members[to], place.value)) return undefined;
    return { steps: [{ op: "remove", path: place.pointer }], confidence };
  }
  const path = `${place.holderPointer}/${escapePointer(to)}`;
  const target = violation.field.slice(0, violation.field.length - String(place.key).length) + name;
  return { steps: [{ op: "move", from: place.pointer, path }], confidence, target };
}

/** The name of a field of the definition, in the naming of the request. */
function nameOf({ naming, place }: Mistake, name: string): string {
  if (naming === "proto") return name;
  return place.types.at(-1)?.fields.find((field) => field.name === name)?.jsonName ?? name;
}
