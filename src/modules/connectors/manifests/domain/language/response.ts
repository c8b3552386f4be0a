import {
  isJsonObject,
  type Json,
  type JsonObject,
  memberPath,
  ObjectReader,
  shortName,
  type Violations,
} from "../../../../../platform/document/index.ts";
import {
  choice,
  flag,
  integer,
  integerSchema,
  listSchema,
  type Member,
  object,
  optional,
  type ReadContext,
  text,
  type ValueOf,
} from "../../../../../platform/json-schema/index.ts";
import type { CompileContext } from "./compile-context.ts";
import { formats, limits } from "./limits.ts";
import { checkExclusive, define, expression, header, named, oneOf, pointer, raw, ref } from "./members.ts";
import { answerVariables } from "./parse-condition.ts";
import { suggest } from "./parse-template.ts";

/** Classes of provider answers. */
export const answerClasses = [
  "ok",
  "rate_limited",
  "auth_expired",
  "permission_denied",
  "not_found",
  "conflict",
  "invalid_input",
  "unavailable",
  "failed",
  "malformed",
] as const;
export type AnswerClass = (typeof answerClasses)[number];

export const hint = define(
  "a time hint",
  '{"header": "retry-after", "unit": "retry_after"}',
  {
    header: optional(header("header")),
    body: optional(pointer("body")),
    /** retry_after: seconds or an HTTP date. duration: a text such as `6m0s` or `20ms`. */
    unit: choice("unit", ["retry_after", "s", "ms", "epoch_s", "epoch_ms", "rfc3339", "duration"], "retry_after"),
  },
  ({ header, body = "", unit }, reader) => {
    checkExclusive(reader, "header", "body");
    const from: { readonly header: string } | { readonly body: string } = header === undefined ? { body } : { header };
    return { from, unit };
  },
);

/** When a limited call may be repeated. */
export type RateLimitHint = ValueOf<typeof hint>;

const statuses: Member<ReadonlySet<number> | undefined> = {
  name: "status",
  schema: listSchema({ oneOf: [integerSchema(100, 599), { type: "string", pattern: "^[1-5]xx$" }] }, 1, 50, false),
  isRequired: false,
  read(reader) {
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
  },
};

const errorRule = define(
  "an error rule",
  '{"status": [429], "as": "rate_limited"}',
  {
    /** The statuses it applies to; undefined for all. */
    status: statuses,
    when: expression("when", answerVariables, "bool"),
    /** Undefined: the default class of the status. */
    as: optional(oneOf("as", answerClasses, "classes")),
    until: named(optional(object("until", hint)), "hint"),
    /** Pointers to the provider's error code and message in the body. */
    code: optional(pointer("code")),
    message: optional(pointer("message")),
  },
  (rule, reader, { violations }) => {
    if (!reader.has("status") && !reader.has("when")) {
      violations.add(reader.path, "required", "must have status, when or both: it would match every answer");
    }
    return rule;
  },
);

/** Classifies answers; the first rule that matches wins. */
export type ErrorRule = ValueOf<typeof errorRule>;

/** The rules that classify answers, as written. */
export const errorRules = raw("errors", listSchema(ref("error"), 0, limits.errorRules, false));

/** Reads the rules that classify answers, one rule per step. */
export function* parseErrors(
  value: Json | undefined,
  path: string,
  context: CompileContext,
): Generator<void, readonly ErrorRule[]> {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > limits.errorRules) {
    const example = '[{"status": [429], "as": "rate_limited"}]';
    context.violations.add(
      path,
      "list",
      `must be a list of at most ${limits.errorRules} rules, for example ${example}`,
    );
    return [];
  }
  return yield* readEach(errorRule, value, path, context);
}

/** Reads the elements of a list, one per step. */
export function* readEach<T, C extends ReadContext>(
  { read }: { read(value: Json, path: string, context: C): T | undefined },
  list: readonly Json[],
  path: string,
  context: C,
): Generator<void, readonly T[]> {
  const elements: T[] = [];
  for (const [at, each] of list.entries()) {
    const element = read(each, `${path}[${at}]`, context);
    if (element !== undefined) elements.push(element);
    yield;
  }
  return elements;
}

/** Where an output value comes from. Pointers refer to the body. */
export type OutputSpec =
  | { readonly kind: "pointer"; readonly pointer: string }
  | { readonly kind: "status" | "headers" | "text" | "base64" }
  | { readonly kind: "header"; readonly name: string }
  | { readonly kind: "constant"; readonly value: Json }
  /** Each element of a list, converted. */
  | { readonly kind: "list"; readonly pointer: string; readonly each: OutputSpec }
  | { readonly kind: "object"; readonly members: readonly (readonly [name: string, value: OutputSpec])[] };

/** An output; undefined if it is missing. */
export function output(name: string): Member<OutputSpec | undefined> {
  return {
    ...{ name, schema: ref("output"), isRequired: false },
    read(reader, { violations }) {
      const value = reader.get(name);
      return value === undefined ? undefined : parseOutput(value, reader.pathOf(name), violations);
    },
  };
}

const sources = { $status: "status", $headers: "headers", $text: "text", $base64: "base64" } as const;
const sourceNames = [...Object.keys(sources), "$header.x-name"];

function parseOutput(value: Json, path: string, violations: Violations, levelsLeft = 16): OutputSpec | undefined {
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

const lastItem = define("a cursor", '{"last_item": "/id"}', { pointer: pointer("last_item") });

const cursor: Member<{ readonly of: "body" | "last_item"; readonly pointer: string } | undefined, CompileContext> = {
  ...{ name: "cursor", schema: { oneOf: [pointer("cursor").schema, lastItem.schema] }, isRequired: false },
  read(reader, context) {
    if (isJsonObject(reader.get("cursor")))
      return { of: "last_item", ...object("cursor", lastItem).read(reader, context) };
    const read = optional(pointer("cursor")).read(reader, context);
    return read === undefined ? undefined : { of: "body", pointer: read };
  },
};

const pageSize = define("a page size", '{"param": "per_page", "value": 100}', {
  param: text("param", formats.param),
  value: integer("value", { min: 1, max: limits.pageSize }),
});

const pages = define(
  "a pagination",
  '{"kind": "link", "items": "", "max_pages": 10}',
  {
    /** link: the `next` of a Link header. cursor: a pointer. page and offset: counted. url: a pointer to the next URL. */
    kind: oneOf("kind", ["link", "cursor", "page", "offset", "url"], "kinds"),
    /** A pointer to the list in the body. */
    items: pointer("items"),
    /** Whether the provider leaves an empty list out. */
    itemsOptional: flag("items_optional", false),
    /** A pointer to the cursor or URL, in the body or in the last item of the page. */
    cursor,
    /** A pointer to a boolean that says whether there are more pages. */
    more: optional(pointer("more")),
    /** A pointer to a boolean: whether this is the last page. */
    last: optional(pointer("last")),
    param: optional(text("param", formats.param)),
    in: choice("in", ["query", "body"], "query"),
    size: optional(object("size", pageSize)),
    /** The number of the first page. */
    first: {
      ...{ name: "first", schema: integerSchema(0, 1), isRequired: false },
      read: (reader: ObjectReader) =>
        reader.integer("first", { min: 0, max: 1 }, reader.get("kind") === "page" ? 1 : 0) ?? 0,
    },
    maxPages: integer("max_pages", { min: 1, max: limits.pages }, 10),
  },
  (pagination, reader) => {
    const { kind } = pagination;
    if ((kind === "cursor" || kind === "url") && !reader.has("cursor"))
      reader.refuse("cursor", "required", 'is required, for example "/next_cursor"');
    if ((kind === "cursor" || kind === "page" || kind === "offset") && !reader.has("param"))
      reader.refuse("param", "required", 'is required, for example "cursor"');
    return pagination;
  },
);

/** How the pages of a list are requested. */
export type PaginationSpec = ValueOf<typeof pages>;

export const pagination = named(optional(object("paginate", pages)), "pagination");

/** The schemas of answers, by name. */
export const responseSchemas: Readonly<Record<"hint" | "error" | "output" | "pagination", JsonObject>> = {
  hint: { ...hint.schema, oneOf: [{ required: ["header"] }, { required: ["body"] }] },
  error: { ...errorRule.schema, anyOf: [{ required: ["status"] }, { required: ["when"] }] },
  output: {
    description: "A JSON Pointer, a source such as $status, or an object of outputs.",
    oneOf: [{ type: "string" }, { type: "object", additionalProperties: {} }],
  },
  pagination: pages.schema,
};
