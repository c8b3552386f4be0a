import {
  isJsonObject,
  type Json,
  memberPath,
  ObjectReader,
  shortName,
  type Violations,
} from "../../../../../platform/document/index.ts";
import {
  type AnswerClass,
  answerClasses,
  type ErrorRule,
  type OutputSpec,
  type PaginationSpec,
  type RateLimitHint,
} from "../response-spec.ts";
import { formats, limits } from "./limits.ts";
import { errorMembers, hintMembers, hintUnits, paginationKinds, paginationMembers } from "./manifest-schema.ts";
import { answerVariables, parseExpression } from "./parse-condition.ts";
import { flag } from "./parse-fields.ts";
import { suggest } from "./parse-template.ts";

/** Reads the rules that classify answers, one rule per step. */
export function* parseErrors(
  value: Json | undefined,
  path: string,
  violations: Violations,
): Generator<void, readonly ErrorRule[]> {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > limits.errorRules) {
    const example = '[{"status": [429], "as": "rate_limited"}]';
    violations.add(path, "list", `must be a list of at most ${limits.errorRules} rules, for example ${example}`);
    return [];
  }
  const rules: ErrorRule[] = [];
  for (const [at, each] of (value as readonly Json[]).entries()) {
    const rule = parseError(each, `${path}[${at}]`, violations);
    if (rule !== undefined) rules.push(rule);
    yield;
  }
  return rules;
}

function parseError(value: Json, path: string, violations: Violations): ErrorRule | undefined {
  const reader = ObjectReader.open(value, path, violations, {
    known: errorMembers,
    example: '{"status": [429], "as": "rate_limited"}',
    what: "an error rule",
  });
  if (reader === undefined) return undefined;
  const as = reader.get("as");
  if (as !== undefined && !answerClasses.includes(as as AnswerClass)) {
    reader.refuse("as", "choice", suggest(String(as), answerClasses, "classes"));
  }
  const isUnlimited = !reader.has("status") && !reader.has("when");
  if (isUnlimited) violations.add(path, "required", "must have status, when or both: it would match every answer");
  return {
    status: readStatuses(reader),
    when: parseExpression(reader.get("when"), reader.pathOf("when"), violations, answerVariables, "bool"),
    as: as as AnswerClass | undefined,
    until: parseHint(reader.get("until"), reader.pathOf("until"), violations),
    code: optionalPointer(reader, "code"),
    message: optionalPointer(reader, "message"),
  };
}

function readStatuses(reader: ObjectReader): ReadonlySet<number> | undefined {
  const list = reader.list("status", { min: 1, max: 50 }, "[403, 429]");
  if (list === undefined) return undefined;
  const statuses = new Set<number>();
  for (const [at, each] of list.entries()) {
    if (typeof each === "string" && /^[1-5]xx$/.test(each)) {
      for (let code = 0; code < 100; code++) statuses.add(Number(each[0]) * 100 + code);
    } else if (typeof each === "number" && Number.isInteger(each) && each >= 100 && each <= 599) {
      statuses.add(each);
    } else {
      reader.violations.add(`${reader.pathOf("status")}[${at}]`, "range", 'must be a status such as 429 or "5xx"');
    }
  }
  return statuses;
}

/** Reads a hint when calls are possible again. */
export function parseHint(value: Json | undefined, path: string, violations: Violations): RateLimitHint | undefined {
  if (value === undefined) return undefined;
  const reader = ObjectReader.open(value, path, violations, {
    known: hintMembers,
    example: '{"header": "retry-after", "unit": "retry_after"}',
    what: "a time hint",
  });
  if (reader === undefined) return undefined;
  const unit = reader.choice("unit", hintUnits, "retry_after");
  if (reader.has("header") === reader.has("body")) {
    return violations.add(path, "exclusive", "must have either header or body");
  }
  if (reader.has("header")) {
    const header = reader.text("header", formats.header);
    return header === undefined ? undefined : { from: { header: header.toLowerCase() }, unit };
  }
  const body = reader.text("body", formats.pointer);
  return body === undefined ? undefined : { from: { body }, unit };
}

/** A JSON Pointer; undefined if it is missing. */
export function optionalPointer(reader: ObjectReader, name: string): string | undefined {
  return reader.has(name) ? reader.text(name, formats.pointer) : undefined;
}

const sources = { $status: "status", $headers: "headers", $text: "text", $base64: "base64" } as const;
const sourceNames = [...Object.keys(sources), "$header.x-name"];

/** Reads where an output comes from. */
export function parseOutput(
  value: Json,
  path: string,
  violations: Violations,
  levelsLeft = 16,
): OutputSpec | undefined {
  if (levelsLeft === 0) return violations.add(path, "nesting", "must not nest deeper than 16 levels");
  if (typeof value === "string") return parseSource(value, path, violations);
  if (!isJsonObject(value)) {
    return violations.add(path, "type", 'must be a JSON Pointer such as "/id", or an object of them');
  }
  if (Object.hasOwn(value, "$list") || Object.hasOwn(value, "$each")) {
    const reader = ObjectReader.open(value, path, violations, {
      known: ["$list", "$each"],
      example: '{"$list": "/items", "$each": {"id": "/id"}}',
      what: "a list output",
    })!;
    const pointer = reader.text("$list", formats.pointer);
    const each = reader.required("$each", '{"id": "/id"}');
    const inner =
      each === undefined ? undefined : parseOutput(each, reader.pathOf("$each"), violations, levelsLeft - 1);
    return pointer === undefined || inner === undefined ? undefined : { kind: "list", pointer, each: inner };
  }
  if (Object.hasOwn(value, "$const")) return { kind: "constant", value: value.$const! };
  const members = Object.entries(value).flatMap(([name, each]) => {
    const member = parseOutput(each, memberPath(path, name), violations, levelsLeft - 1);
    return member === undefined ? [] : [[name, member] as const];
  });
  return { kind: "object", members };
}

function parseSource(text: string, path: string, violations: Violations): OutputSpec | undefined {
  if (text.startsWith("$header.")) return { kind: "header", name: text.slice("$header.".length).toLowerCase() };
  if (text.startsWith("$")) {
    const kind = Object.hasOwn(sources, text) ? sources[text as keyof typeof sources] : undefined;
    return kind === undefined ? violations.add(path, "output", suggest(text, sourceNames, "sources")) : { kind };
  }
  if (formats.pointer.pattern.test(text) && text.length <= formats.pointer.lengthMax)
    return { kind: "pointer", pointer: text };
  return violations.add(path, "pattern", `${formats.pointer.description}; ${shortName(text)} is none`);
}

/** Reads how pages are requested. */
export function parsePagination(
  value: Json | undefined,
  path: string,
  violations: Violations,
): PaginationSpec | undefined {
  if (value === undefined) return undefined;
  const reader = ObjectReader.open(value, path, violations, {
    known: paginationMembers,
    example: '{"kind": "link", "items": "", "max_pages": 10}',
    what: "a pagination",
  });
  if (reader === undefined) return undefined;
  const kind = reader.get("kind");
  if (!paginationKinds.includes(kind as PaginationSpec["kind"])) {
    return reader.refuse("kind", "choice", suggest(String(kind), paginationKinds, "kinds"));
  }
  const needsCursor = kind === "cursor" || kind === "url";
  const needsParam = kind === "cursor" || kind === "page" || kind === "offset";
  const cursor = readCursor(reader);
  if (needsCursor && !reader.has("cursor"))
    reader.refuse("cursor", "required", 'is required, for example "/next_cursor"');
  const param = reader.has("param") ? reader.text("param", formats.param) : undefined;
  if (needsParam && !reader.has("param")) reader.refuse("param", "required", 'is required, for example "cursor"');
  const items = reader.text("items", formats.pointer);
  const maxPages = reader.integer("max_pages", { min: 1, max: limits.pages }, 10);
  return {
    kind: kind as PaginationSpec["kind"],
    items: items ?? "",
    itemsOptional: flag(reader, "items_optional", false),
    cursor,
    more: optionalPointer(reader, "more"),
    last: optionalPointer(reader, "last"),
    param,
    in: reader.choice("in", ["query", "body"], "query"),
    size: readSize(reader),
    first: reader.integer("first", { min: 0, max: 1 }, kind === "page" ? 1 : 0) ?? 0,
    maxPages: maxPages ?? 1,
  };
}

function readCursor(reader: ObjectReader): PaginationSpec["cursor"] {
  const value = reader.get("cursor");
  if (!isJsonObject(value)) {
    const pointer = optionalPointer(reader, "cursor");
    return pointer === undefined ? undefined : { of: "body", pointer };
  }
  const inner = ObjectReader.open(value, reader.pathOf("cursor"), reader.violations, {
    known: ["last_item"],
    example: '{"last_item": "/id"}',
    what: "a cursor",
  })!;
  const pointer = inner.text("last_item", formats.pointer);
  return pointer === undefined ? undefined : { of: "last_item", pointer };
}

function readSize(reader: ObjectReader): PaginationSpec["size"] {
  if (!reader.has("size")) return undefined;
  const size = ObjectReader.open(reader.get("size"), reader.pathOf("size"), reader.violations, {
    known: ["param", "value"],
    example: '{"param": "per_page", "value": 100}',
    what: "a page size",
  });
  const param = size?.text("param", formats.param);
  const value = size?.integer("value", { min: 1, max: limits.pageSize });
  return param === undefined || value === undefined ? undefined : { param, value };
}
