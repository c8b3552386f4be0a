import {
  isJsonObject,
  type Json,
  type JsonObject,
  memberPath,
  shortName,
  type Violations,
} from "../../../../../platform/document/index.ts";
import { nearestName } from "../../../../../platform/text/index.ts";
import {
  type Placeholder,
  type PlaceholderFilter,
  type PlaceholderRoot,
  placeholderFilters,
  placeholderRoots,
  type TextTemplate,
  type ValueTemplate,
} from "../template.ts";
import type { TemplateScope } from "./compile-context.ts";
import { limits } from "./limits.ts";

const placeholderPattern = /^([a-z_]+)((?:\.[A-Za-z0-9_-]+)*)(?:\|([a-z0-9_]+))?$/;
const encodings = { $base64: "base64", $base64url: "base64url", $json: "json" } as const;

/** Reads a text with placeholders; undefined and reported if it is invalid. */
export function parseText(
  value: Json | undefined,
  path: string,
  scope: TemplateScope,
  violations: Violations,
): TextTemplate | undefined {
  if (typeof value !== "string") return violations.add(path, "type", 'must be a text, for example "/items/{input.id}"');
  if (value.length > limits.templateLength) {
    return violations.add(path, "text", `must have at most ${limits.templateLength} characters`);
  }
  const parts: (string | Placeholder)[] = [];
  let literal = "";
  for (let at = 0; at < value.length; at++) {
    const character = value[at]!;
    if (character !== "{") {
      literal += character;
    } else if (value[at + 1] === "{") {
      literal += "{";
      at++;
    } else {
      const end = value.indexOf("}", at);
      const placeholder = end < 0 ? undefined : parsePlaceholder(value.slice(at + 1, end), path, scope, violations);
      if (end < 0) return violations.add(path, "template", "has a { without a }: write {{ for a literal brace");
      if (placeholder === undefined) return undefined;
      if (literal !== "") parts.push(literal);
      literal = "";
      parts.push(placeholder);
      at = end;
    }
  }
  if (literal !== "" || parts.length === 0) parts.push(literal);
  return { source: value, parts };
}

function parsePlaceholder(
  text: string,
  path: string,
  scope: TemplateScope,
  violations: Violations,
): Placeholder | undefined {
  const match = placeholderPattern.exec(text);
  const shown = shortName(text);
  if (match === null) {
    return violations.add(
      path,
      "template",
      `{${shown}} is not a placeholder, for example {input.title}; write {{ for a literal brace`,
    );
  }
  const root = match[1] as PlaceholderRoot;
  const names = match[2] === "" ? [] : match[2]!.slice(1).split(".");
  const filter = match[3] as PlaceholderFilter | undefined;
  if (filter !== undefined && !placeholderFilters.includes(filter)) {
    return violations.add(path, "filter", `{${shown}}: ${suggest(filter, placeholderFilters, "filters")}`);
  }
  if (!placeholderRoots.includes(root)) {
    return violations.add(path, "placeholder", `{${shown}}: ${suggest(root, placeholderRoots, "placeholders")}`);
  }
  const known = scope[root];
  if (known === undefined) {
    const allowed = placeholderRoots.filter((each) => scope[each] !== undefined);
    const hint = root === "credentials" || root === "config" ? "; use it in auth" : "";
    return violations.add(
      path,
      "placeholder",
      `{${shown}} is not available here${hint}; available are ${allowed.join(", ")}`,
    );
  }
  if (root === "input") return inputPlaceholder(names, filter, path, scope.input!, violations);
  const problem = problemOf(root, names, known as ReadonlySet<string>);
  if (problem !== undefined) return violations.add(path, "placeholder", `{${shown}} ${problem}`);
  return { root, path: names, filter, fallback: undefined };
}

function problemOf(root: PlaceholderRoot, names: readonly string[], known: ReadonlySet<string>): string | undefined {
  const [first] = names;
  if (root === "idempotency_key") return names.length === 0 ? undefined : "has no members";
  if (first === undefined) return `must name a member, for example {${root}.${[...known][0] ?? "x"}}`;
  if (known.has(first)) return undefined;
  const list = [...known];
  const near = nearestName(first, list.slice(0, suggestionsMax));
  if (near !== undefined) return `is not declared; did you mean {${root}.${near}}?`;
  return list.length === 0
    ? `is not declared: nothing of ${root} is`
    : `is not declared; declared are ${list.join(", ")}`;
}

function inputPlaceholder(
  names: readonly string[],
  filter: PlaceholderFilter | undefined,
  path: string,
  schema: JsonObject,
  violations: Violations,
): Placeholder | undefined {
  let current: Json | undefined = schema;
  for (const [at, name] of names.entries()) {
    if (!isJsonObject(current)) break;
    const properties: Json | undefined = current.properties;
    if (isJsonObject(properties) && Object.hasOwn(properties, name)) {
      current = properties[name];
      continue;
    }
    const isOpen = current.additionalProperties !== undefined && current.additionalProperties !== false;
    if (isOpen || !isJsonObject(properties) || Array.isArray(current.items)) {
      current = undefined;
      continue;
    }
    const near = nearestName(name, Object.keys(properties).slice(0, suggestionsMax));
    const whole = ["input", ...names.slice(0, at + 1)].join(".");
    const hint = near === undefined ? "add it to the input schema" : `did you mean ${near}?`;
    return violations.add(path, "placeholder", `{${shortName(whole)}} is not a property of the input; ${hint}`);
  }
  const fallback = isJsonObject(current) && names.length > 0 ? current.default : undefined;
  return { root: "input", path: names, filter, fallback };
}

/** Whether every valid input has a value for a placeholder. */
export function isAlwaysPresent({ root, path, fallback }: Placeholder, input: JsonObject | undefined): boolean {
  if (root !== "input" || fallback !== undefined) return true;
  let schema: Json | undefined = input;
  for (const name of path) {
    if (!isJsonObject(schema)) return false;
    const required: Json | undefined = schema.required;
    const properties: Json | undefined = schema.properties;
    if (!Array.isArray(required) || !(required as readonly Json[]).includes(name)) return false;
    schema = isJsonObject(properties) ? properties[name] : undefined;
  }
  return true;
}

/** Reads a JSON value with placeholders; undefined and reported if it is invalid. */
export function parseValue(
  value: Json,
  path: string,
  scope: TemplateScope,
  violations: Violations,
  levelsLeft: number = limits.templateDepth,
): ValueTemplate | undefined {
  if (levelsLeft === 0) {
    return violations.add(path, "nesting", `must not nest deeper than ${limits.templateDepth} levels`);
  }
  if (typeof value === "string") return parseTextValue(value, path, scope, violations);
  if (value === null || typeof value !== "object") return { kind: "constant", value };
  if (Array.isArray(value)) {
    const elements = (value as readonly Json[]).flatMap(
      (each, at) => parseValue(each, `${path}[${at}]`, scope, violations, levelsLeft - 1) ?? [],
    );
    return { kind: "list", elements };
  }
  const members = value as JsonObject;
  if (Object.hasOwn(members, "$entries")) return parseEntries(members, path, scope, violations, levelsLeft);
  if (Object.hasOwn(members, "$items")) return parseItems(members, path, scope, violations, levelsLeft);
  const [only, ...others] = Object.keys(members);
  if (only?.startsWith("$") && others.length === 0) {
    const inner = parseValue(members[only]!, memberPath(path, only), scope, violations, levelsLeft - 1);
    if (inner === undefined) return undefined;
    if (only === "$repeat") return { kind: "repeat", value: inner };
    const encoding = encodings[only as keyof typeof encodings];
    if (encoding !== undefined) return { kind: "encoded", encoding, value: inner };
    const known = [...Object.keys(encodings), "$repeat", "$entries", "$items"];
    return violations.add(memberPath(path, only), "unknown_field", suggest(only, known, "conversions"));
  }
  const compiled = Object.entries(members).flatMap(([name, each]) => {
    const member = parseValue(each, memberPath(path, name), scope, violations, levelsLeft - 1);
    return member === undefined ? [] : [[name, member] as const];
  });
  return { kind: "object", members: compiled };
}

function parseEntries(
  { $entries: entries, $name: name, $value: named, ...others }: JsonObject,
  path: string,
  scope: TemplateScope,
  violations: Violations,
  levelsLeft: number,
): ValueTemplate | undefined {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined || typeof name !== "string" || typeof named !== "string" || name === named) {
    const example = '{"$entries": "{input.headers}", "$name": "Name", "$value": "Value"}';
    return violations.add(
      path,
      "entries",
      `must have exactly $entries and two different names, for example ${example}`,
    );
  }
  const value = parseValue(entries!, memberPath(path, "$entries"), scope, violations, levelsLeft - 1);
  return value && { kind: "entries", value, names: { name, value: named } };
}

function parseItems(
  { $items: items, $names: names, ...others }: JsonObject,
  path: string,
  scope: TemplateScope,
  violations: Violations,
  levelsLeft: number,
): ValueTemplate | undefined {
  const renamed = isJsonObject(names) ? Object.values(names) : [];
  const isComplete = renamed.length > 0 && renamed.every((name) => typeof name === "string");
  if (!isComplete || Object.keys(others).length > 0) {
    const example = '{"$items": "{input.files}", "$names": {"filename": "Name"}}';
    return violations.add(path, "items", `must have exactly $items and $names, for example ${example}`);
  }
  const value = parseValue(items!, memberPath(path, "$items"), scope, violations, levelsLeft - 1);
  return value && { kind: "items", value, names: names as Readonly<Record<string, string>> };
}

function parseTextValue(
  value: string,
  path: string,
  scope: TemplateScope,
  violations: Violations,
): ValueTemplate | undefined {
  const template = parseText(value, path, scope, violations);
  if (template === undefined) return undefined;
  const [only, ...others] = template.parts;
  if (others.length > 0) return { kind: "text", template };
  return typeof only === "string" ? { kind: "constant", value: only } : { kind: "placeholder", placeholder: only! };
}

// The search for the nearest name is not free.
const suggestionsMax = 50;
const shownMax = 20;

/** The text of a value that should be one. String() would throw for an object with a member `toString`. */
export function toText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "undefined");
}

/** Says that a name is not known, with the nearest known one or some of them. */
export function suggest(given: unknown, known: readonly string[], what: string): string {
  const name = toText(given);
  const near = name.length > 100 ? undefined : nearestName(name, known.slice(0, suggestionsMax));
  if (near !== undefined) return `${shortName(name)} is not known; did you mean ${near}?`;
  const shown = known.slice(0, shownMax).join(", ");
  return `${shortName(name)} is not known; ${what} are ${shown}${known.length > shownMax ? ", …" : ""}`;
}
