import { applyCasing, lowerCase, upperCase } from "../formats/casing.ts";
import { escapeHtml } from "../formats/escape.ts";
import type { Helper } from "../helper.ts";
import type { Run } from "../run.ts";
import { numberOf, SafeText, textOf } from "../values.ts";

/** Creates a filter from text to text, which charges for both. */
const onText =
  (change: (text: string, run: Run, args: readonly unknown[]) => string): Helper =>
  (run, args) =>
    run.chargeText(change(run.chargeText(textOf(run, args[0], "")), run, args));

const argument = (run: Run, value: unknown): string => run.chargeText(textOf(run, value, ""));

export const textFilters: readonly (readonly [string, Helper])[] = [
  ["append", onText((text, run, [, more]) => text + argument(run, more))],
  ["prepend", onText((text, run, [, more]) => argument(run, more) + text)],
  ["capitalize", onText((text, { locale }) => upperCase(text.slice(0, 1), locale) + lowerCase(text.slice(1), locale))],
  ["upcase", onText((text, { locale }) => upperCase(text, locale))],
  ["downcase", onText((text, { locale }) => lowerCase(text, locale))],
  ["titlecase", onText((text, { locale }) => applyCasing(text, "title", locale))],
  ["strip", onText((text) => text.trim())],
  ["lstrip", onText((text) => text.trimStart())],
  ["rstrip", onText((text) => text.trimEnd())],
  ["strip_newlines", onText((text) => text.replace(/\r?\n|\r/g, ""))],
  ["strip_html", onText(stripTags)],
  ["remove", onText((text, run, [, what]) => replaceText(run, text, argument(run, what), "", "all"))],
  ["remove_first", onText((text, run, [, what]) => replaceText(run, text, argument(run, what), "", "first"))],
  ["remove_last", onText((text, run, [, what]) => replaceText(run, text, argument(run, what), "", "last"))],
  [
    "replace",
    onText((text, run, [, what, by]) => replaceText(run, text, argument(run, what), argument(run, by), "all")),
  ],
  [
    "replace_first",
    onText((text, run, [, what, by]) => replaceText(run, text, argument(run, what), argument(run, by), "first")),
  ],
  [
    "replace_last",
    onText((text, run, [, what, by]) => replaceText(run, text, argument(run, what), argument(run, by), "last")),
  ],
  ["truncate", onText((text, run, [, length, end]) => truncate(run, text, length, end))],
  ["truncatewords", onText((text, run, [, count, end]) => truncateWords(run, text, count, end))],
  ["url_encode", onText((text) => encodeURIComponent(text.toWellFormed()).replaceAll("%20", "+"))],
  ["url_decode", onText(decodeUrl)],
  ["split", (run, [value, by]) => split(run, argument(run, value), argument(run, by))],
  ["escape", (run, [value]) => new SafeText(run.chargeText(escapeHtml(argument(run, value))))],
  ["escape_once", (run, [value]) => new SafeText(run.chargeText(escapeHtml(unescapeHtml(argument(run, value)))))],
  ["raw", (run, [value]) => new SafeText(argument(run, value))],
  ["newline_to_br", newlineToBr],
];

/** Replaces some or all occurrences in a text; each replacement is charged before it is made. */
function replaceText(run: Run, text: string, what: string, by: string, places: "all" | "first" | "last"): string {
  if (what === "") return text;
  run.chargeSearch(text, what);
  let at = places === "last" ? text.lastIndexOf(what) : text.indexOf(what);
  let result = "";
  let from = 0;
  while (at >= 0) {
    run.spend(1 + (by.length >> 4));
    result += text.slice(from, at) + by;
    if (result.length > run.bytesMax) break;
    from = at + what.length;
    at = places === "all" ? text.indexOf(what, from) : -1;
  }
  return result + text.slice(from);
}

function split(run: Run, text: string, by: string): string[] {
  const parts: string[] = [];
  if (text === "") return parts;
  if (by === "") {
    run.spend(text.length);
    return [...text];
  }
  run.chargeSearch(text, by);
  let from = 0;
  for (let at = text.indexOf(by); at >= 0; at = text.indexOf(by, from)) {
    run.spend(1);
    parts.push(text.slice(from, at));
    from = at + by.length;
  }
  parts.push(text.slice(from));
  // As in Liquid, empty parts at the end are dropped.
  while (parts.at(-1) === "") parts.pop();
  return parts;
}

/** Removes tags, comments, scripts and styles. This does not make untrusted markup safe; escaping does. */
function stripTags(text: string): string {
  let result = "";
  let from = 0;
  for (let at = text.indexOf("<"); at >= 0; at = text.indexOf("<", from)) {
    result += text.slice(from, at);
    const start = text.slice(at, at + 8).toLowerCase();
    const closer = start.startsWith("<!--")
      ? "-->"
      : start.startsWith("<script")
        ? "</script>"
        : start.startsWith("<style")
          ? "</style>"
          : ">";
    const end = text.indexOf(closer, at);
    if (end < 0) return result;
    from = end + closer.length;
  }
  return result + text.slice(from);
}

function truncate(run: Run, text: string, length: unknown, end: unknown): string {
  const most = wholeNumber(length, 50);
  const ending = end === undefined ? "..." : argument(run, end);
  return text.length <= most ? text : text.slice(0, Math.max(most - ending.length, 0)) + ending;
}

function truncateWords(run: Run, text: string, count: unknown, end: unknown): string {
  const most = Math.max(wholeNumber(count, 15), 1);
  const words = /\S+/g;
  let last = 0;
  for (let index = 0; index < most; index++) {
    run.spend(1);
    const word = words.exec(text);
    if (word === null) return text;
    last = words.lastIndex;
  }
  const rest = words.exec(text) === null;
  return rest ? text : text.slice(0, last) + (end === undefined ? "..." : argument(run, end));
}

function wholeNumber(value: unknown, otherwise: number): number {
  const number = Math.trunc(numberOf(value));
  return Number.isNaN(number) ? otherwise : Math.max(number, 0);
}

function decodeUrl(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

const entities: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&#96;": "`",
  "&amp;": "&",
};

function unescapeHtml(text: string): string {
  return text.replace(/&(?:lt|gt|quot|#39|#96|amp);/g, (entity) => entities[entity]!);
}

function newlineToBr(run: Run, [value]: readonly unknown[]): unknown {
  const isSafe = value instanceof SafeText || run.escape === undefined;
  const text = run.chargeText(isSafe ? textOf(run, value, "") : run.escape(argument(run, value)));
  return new SafeText(replaceText(run, text.replaceAll("\r\n", "\n"), "\n", "<br />\n", "all"));
}
