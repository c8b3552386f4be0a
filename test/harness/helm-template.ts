import { createHash } from "node:crypto";
import { stringify } from "yaml";

/** What a template of a chart can read. */
export interface ChartScope {
  readonly Values: unknown;
  readonly Release: { readonly Name: string };
  readonly Chart: { readonly AppVersion: string };
}

interface Frame {
  readonly dot: unknown;
  readonly variables: Readonly<Record<string, unknown>>;
}

type Part = { readonly text: string } | { readonly action: string };

/**
 * Renders a template of a Helm chart, as far as this repository's chart uses the language: `if`, `with`, `range`, paths, and pipelines of
 * the functions below. Everything else throws, so that no template means something else to Helm.
 */
export function renderTemplate(template: string, scope: ChartScope): string {
  const parts = split(template);
  const { text, next } = renderParts(parts, 0, { dot: scope, variables: {} });
  if (next !== parts.length) throw new Error("An end has no beginning.");
  return text;
}

const functions: Readonly<Record<string, (args: readonly unknown[]) => unknown>> = {
  default: ([fallback, value]) => (isEmpty(value) ? fallback : value),
  nindent: ([spaces, text]) => `\n${String(text).replaceAll(/^(?=.)/gm, " ".repeat(Number(spaces)))}`,
  quote: ([value]) => JSON.stringify(String(value)),
  sha256sum: ([text]) => createHash("sha256").update(String(text)).digest("hex"),
  toYaml: ([value]) => stringify(value).trimEnd(),
};

/** Splits a template into texts and actions. A dash removes the white space beside an action. */
function split(template: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (const match of template.matchAll(/\{\{(- )?\s*(.*?)\s*( -)?\}\}/g)) {
    const text = template.slice(at, match.index);
    parts.push({ text: match[1] ? text.trimEnd() : text }, { action: match[2]! });
    at = match.index + match[0].length;
    if (match[3]) at += /^\s*/.exec(template.slice(at))![0].length;
  }
  return [...parts, { text: template.slice(at) }];
}

/** Renders until the end of the block. */
function renderParts(
  parts: readonly Part[],
  from: number,
  frame: Frame,
  isShown = true,
): { text: string; next: number } {
  let text = "";
  for (let at = from; at < parts.length; at++) {
    const part = parts[at]!;
    if ("text" in part) {
      if (isShown) text += part.text;
      continue;
    }
    if (part.action === "end") return { text, next: at };
    const block = /^(if|with|range) (.*)$/.exec(part.action);
    if (block === null) {
      if (isShown) text += String(evaluate(part.action, frame));
      continue;
    }
    const frames = isShown ? framesOf(block[1]!, block[2]!, frame) : [];
    for (const each of frames) text += renderParts(parts, at + 1, each).text;
    at = renderParts(parts, at + 1, frame, false).next;
  }
  return { text, next: parts.length };
}

/** The frames in which the inside of a block is rendered. */
function framesOf(kind: string, subject: string, frame: Frame): Frame[] {
  const named = /^\$(\w+), \$(\w+) := (.*)$/.exec(subject);
  const value = evaluate(named?.[3] ?? subject, frame);
  if (kind === "if") return isEmpty(value) ? [] : [frame];
  if (kind === "with") return isEmpty(value) ? [] : [{ ...frame, dot: value }];
  // Go ranges over the keys of a map in their order.
  return Object.entries(value as object)
    .sort(([a], [b]) => (Array.isArray(value) ? 0 : a < b ? -1 : 1))
    .map(([key, dot]) => ({
      ...frame,
      dot,
      variables: named === null ? frame.variables : { ...frame.variables, [named[1]!]: key, [named[2]!]: dot },
    }));
}

function evaluate(pipeline: string, frame: Frame): unknown {
  const [first, ...rest] = pipeline.split(" | ").map((command) => command.split(" "));
  let value = call(first!, [], frame);
  for (const command of rest) value = call(command, [value], frame);
  return value;
}

function call([name, ...words]: readonly string[], piped: readonly unknown[], frame: Frame): unknown {
  const own = functions[name!];
  if (own !== undefined) return own([...words.map((word) => operand(word, frame)), ...piped]);
  if (words.length > 0 || piped.length > 0) throw new Error(`No function ${name}.`);
  return operand(name!, frame);
}

function operand(word: string, { dot, variables }: Frame): unknown {
  if (/^\d+$/.test(word)) return Number(word);
  if (/^"[^"]*"$/.test(word)) return JSON.parse(word);
  if (/^\$\w+$/.test(word) && word.slice(1) in variables) return variables[word.slice(1)];
  if (!/^\.(?:\w+(?:\.\w+)*)?$/.test(word)) throw new Error(`Cannot evaluate ${word}.`);
  let value = dot;
  for (const name of word.split(".").filter(Boolean)) {
    if (typeof value !== "object" || value === null || !(name in value)) throw new Error(`Nothing is at ${word}.`);
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** What Go's templates consider false. */
function isEmpty(value: unknown): boolean {
  return !value || (typeof value === "object" && Object.keys(value).length === 0);
}
