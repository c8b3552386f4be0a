import { CelError, evaluateCondition } from "../../../../../platform/cel/index.ts";
import { isJsonObject, isTooDeep, type Json } from "../../../../../platform/document/index.ts";
import { valueAt, withValueAt } from "../json-pointer.ts";
import type { Action } from "../language/action.ts";
import type { Provider } from "../provider.ts";
import type { ActionAnswer, AnswerClass, ErrorRule, PageState } from "../response-spec.ts";
import { nextPageOf } from "./next-page.ts";
import { type AnswerParts, readOutput } from "./output.ts";
import { readHint } from "./time-hint.ts";

/** The answer to an HTTP request. */
export interface HttpAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface ReadOptions {
  readonly nowMs: number;
  /** The state of the previous answer, to collect all pages. */
  readonly page?: PageState | undefined;
}

/** A classifier of answers: an action or a trigger. */
export type Readable = Pick<Action, "errors"> & Partial<Pick<Action, "response" | "output" | "paginate">>;

const messageLengthMax = 512;
const codeLengthMax = 128;
/** Deeper answers could exhaust the stack of whoever reads the output. */
const answerDepthMax = 100;

/** Where providers commonly put their error messages. */
const commonMessages = [
  "/error/message",
  "/message",
  "/error_description",
  "/errors/0/message",
  "/errors/0/detail",
  "/error",
  "/detail",
  "/title",
];

/** Reads an answer. It never throws: what cannot be read is `malformed`. */
export function readResponse(
  provider: Provider,
  { errors, response = "json", output, paginate }: Readable,
  answer: HttpAnswer,
  { nowMs, page }: ReadOptions,
): ActionAnswer {
  const parsed = parseBody(answer.body, response);
  const body = parsed === notJson ? undefined : parsed;
  const { status, headers } = answer;
  const { rule, class: answerClass } = classify(errors, status, headers, body);
  if (answerClass !== "ok") {
    const retryAtMs = retryTime(rule, answerClass, headers, body, nowMs);
    return { class: answerClass, ...reasonOf(rule, status, body), ...(retryAtMs !== undefined && { retryAtMs }) };
  }
  if (parsed === notJson) return malformed("not_json", "The provider's answer is not JSON.");
  if (body !== undefined && isTooDeep(body, answerDepthMax)) {
    return malformed("too_deep", `The provider's answer nests deeper than ${answerDepthMax} levels.`);
  }
  const parts: AnswerParts = { status, headers, bytes: answer.body, body };
  const retryAtMs = limitEnd(provider, headers, body, nowMs);
  const more = retryAtMs !== undefined && { retryAtMs };
  if (paginate === undefined) {
    const value = output === undefined ? body : readOutput(output, parts);
    return { class: "ok", output: value ?? null, ...more };
  }
  const found = valueAt(body, paginate.items) ?? (paginate.itemsOptional && isJsonObject(body) ? [] : undefined);
  if (!Array.isArray(found)) return malformed("no_items", "The provider's answer has no list of items.");
  const items: readonly Json[] = [...(page?.items ?? []), ...(found as readonly Json[])];
  const pages = (page?.pages ?? 0) + 1;
  const next = nextPageOf(paginate, { body, headers, items: found, itemCount: items.length, pageCount: pages });
  const merged: AnswerParts = { ...parts, body: withValueAt(body, paginate.items, items) };
  const value = (output === undefined ? merged.body : readOutput(output, merged)) ?? null;
  if (next === undefined) return { class: "ok", output: value, ...more };
  // A provider that repeats a cursor would never end.
  if (pages >= paginate.maxPages || isSame(next, page?.next))
    return { class: "ok", output: value, truncated: true, ...more };
  return { class: "ok", output: value, nextPage: { pages, items, next }, ...more };
}

/** The class of an answer and the rule that decided it. */
function classify(
  rules: readonly ErrorRule[],
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Json | undefined,
): { readonly rule: ErrorRule | undefined; readonly class: AnswerClass } {
  const rule = rules.find((each) => matches(each, status, headers, body));
  return { rule, class: rule?.as ?? classOfStatus(status) };
}

function matches(
  { status: statuses, when }: ErrorRule,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Json | undefined,
): boolean {
  if (statuses !== undefined && !statuses.has(status)) return false;
  if (when === undefined) return true;
  try {
    return evaluateCondition(when, { status, headers, body: body ?? null });
  } catch (error) {
    // A condition about a member that the answer lacks does not hold.
    if (error instanceof CelError) return false;
    throw error;
  }
}

/** The class of a status without a rule. */
function classOfStatus(status: number): AnswerClass {
  if (status >= 200 && status < 300) return "ok";
  if (status >= 500) return "unavailable";
  switch (status) {
    case 400:
    case 422:
      return "invalid_input";
    case 401:
      return "auth_expired";
    case 403:
      return "permission_denied";
    case 404:
      return "not_found";
    case 409:
      return "conflict";
    case 429:
      return "rate_limited";
    default:
      return "failed";
  }
}

const notJson = Symbol("not JSON");

function parseBody(bytes: Buffer, response: Action["response"]): Json | undefined | typeof notJson {
  if (response === "none" || response === "binary" || bytes.length === 0) return undefined;
  const text = bytes.toString("utf8");
  if (response === "text") return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return response === "any" ? text : notJson;
  }
}

function malformed(code: string, message: string): ActionAnswer {
  return { class: "malformed", code, message };
}

function reasonOf(rule: ErrorRule | undefined, status: number, body: Json | undefined) {
  const code = rule?.code === undefined ? undefined : textOf(valueAt(body, rule.code));
  const message = rule?.message === undefined ? undefined : textOf(valueAt(body, rule.message));
  return {
    code: shorten(code ?? `http_${status}`, codeLengthMax),
    message: shorten(
      message ?? commonMessage(body) ?? `The provider answered with status ${status}.`,
      messageLengthMax,
    ),
  };
}

function commonMessage(body: Json | undefined): string | undefined {
  if (!isJsonObject(body)) return undefined;
  for (const pointer of commonMessages) {
    const value = valueAt(body, pointer);
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}

function textOf(value: Json | undefined): string | undefined {
  if (typeof value === "string") return value === "" ? undefined : value;
  return typeof value === "number" ? String(value) : undefined;
}

function shorten(text: string, lengthMax: number): string {
  return (text.length > lengthMax ? `${text.slice(0, lengthMax - 1)}…` : text).toWellFormed();
}

function retryTime(
  rule: ErrorRule | undefined,
  answerClass: AnswerClass,
  headers: Readonly<Record<string, string>>,
  body: Json | undefined,
  nowMs: number,
): number | undefined {
  const hint = rule?.until && readHint(rule.until, headers, body, nowMs);
  if (hint !== undefined) return hint;
  if (answerClass !== "rate_limited" && answerClass !== "unavailable") return undefined;
  return readHint({ from: { header: "retry-after" }, unit: "retry_after" }, headers, body, nowMs);
}

/** When calls are possible again, if a successful answer used the last one. */
function limitEnd(
  { rateLimit }: Provider,
  headers: Readonly<Record<string, string>>,
  body: Json | undefined,
  nowMs: number,
): number | undefined {
  if (rateLimit === undefined || headers[rateLimit.remaining]?.trim() !== "0") return undefined;
  return readHint(rateLimit.until, headers, body, nowMs);
}

function isSame(one: PageState["next"], other: PageState["next"] | undefined): boolean {
  if (one.kind === "url") return other?.kind === "url" && other.url === one.url;
  return other?.kind === "param" && other.value === one.value;
}
