import type { Template as Parsed, Token, Value } from "liquidjs";
import { TemplateError } from "../template-error.ts";
import { SafeText, textOf } from "../values.ts";
import { bareName, compileToken, compileValue, type LiquidScope, literalCondition } from "./expression.ts";
import { compileFor, type ForTag } from "./loop.ts";
import type { Evaluate, Write } from "./scope.ts";
import { isLiquidTrue, liquidEquals } from "./values.ts";

/** Compiles the source of a partial. */
export type CompilePartial = (source: string) => Write;

/** Compiles the content of a tag. */
export type CompileAll = (templates: readonly Parsed[], scope: LiquidScope) => Write;

interface Branch {
  readonly value: Value;
  readonly templates: readonly Parsed[];
}

/** A parsed tag. */
export type LiquidTag =
  | { readonly name: "assign"; readonly key: string; readonly value: Value }
  | { readonly name: "capture"; readonly variable: string; readonly templates: readonly Parsed[] }
  | { readonly name: "if" | "unless"; readonly branches: readonly Branch[]; readonly elseTemplates?: readonly Parsed[] }
  | {
      readonly name: "case";
      readonly value: Value;
      readonly branches: readonly { readonly values: readonly Token[]; readonly templates: readonly Parsed[] }[];
      readonly elseTemplates: readonly Parsed[];
    }
  | ForTag
  | { readonly name: "increment" | "decrement"; readonly variable: string }
  | { readonly name: "cycle"; readonly group?: Token; readonly candidates: readonly (Token & { getText(): string })[] }
  | { readonly name: "echo"; readonly value?: Value }
  | {
      readonly name: "render";
      /** A text if the name is fixed. */
      readonly file?: unknown;
      readonly hash: { readonly hash: Readonly<Record<string, Token | undefined>> };
      readonly with?: unknown;
      readonly forBinding?: unknown;
    }
  | { readonly name: "raw"; readonly tokens: readonly { getText(): string }[] }
  | { readonly name: "break" | "continue" | "comment" | "#" };

/** The names of all supported tags. */
export const tagNames: ReadonlySet<string> = new Set<LiquidTag["name"]>([
  "assign",
  "capture",
  "if",
  "unless",
  "case",
  "for",
  "increment",
  "decrement",
  "cycle",
  "echo",
  "render",
  "raw",
  "break",
  "continue",
  "comment",
  "#",
]);

/** Compiles a tag with its content. */
export function compileTag(
  tag: LiquidTag,
  scope: LiquidScope,
  compileAll: CompileAll,
  compilePartial: CompilePartial,
): Write | undefined {
  switch (tag.name) {
    case "assign": {
      const value = compileValue(tag.value, scope, "written");
      scope.assigned.add(tag.key);
      return (run) => {
        run.spend(1);
        run.locals.set(tag.key, value(run));
      };
    }
    case "capture": {
      scope.assigned.add(tag.variable);
      const body = compileAll(tag.templates, scope);
      return (run) => {
        const text = run.capture(() => body(run));
        // Captured output has already been escaped where necessary.
        run.locals.set(tag.variable, run.escape ? new SafeText(text) : text);
      };
    }
    case "if":
    case "unless":
      return compileBranches(tag.name, tag.branches, tag.elseTemplates ?? [], scope, compileAll);
    case "case":
      return compileCase(tag, scope, compileAll);
    case "for":
      return compileFor(tag, scope, compileAll);
    case "increment":
    case "decrement":
      return compileCounter(tag.name, tag.variable);
    case "cycle":
      return compileCycle(tag, scope);
    case "echo":
      return tag.value === undefined ? undefined : compileOutput(tag.value, scope);
    case "render":
      return compileRender(tag, scope, compilePartial);
    case "raw": {
      const text = tag.tokens.map((token) => token.getText()).join("");
      return (run) => run.write(text);
    }
    case "break":
    case "continue": {
      const { name } = tag;
      return (run) => {
        run.interrupt = name;
      };
    }
    case "comment":
    case "#":
      return undefined;
    default:
      tag satisfies never;
      throw new TemplateError("syntax_error", "There is no such tag.");
  }
}

export function compileOutput(value: Value, scope: LiquidScope): Write {
  const name = bareName(value, scope);
  if (name !== undefined && scope.notes.reachable) scope.notes.printed.add(name);
  const evaluate = compileValue(value, scope, "written");
  return (run) => run.print(evaluate(run), "");
}

/** Compiles the inclusion of a partial: `{% render 'name' %}` or `{% render 'name', key: value %}`. */
function compileRender(tag: LiquidTag & { name: "render" }, scope: LiquidScope, compilePartial: CompilePartial): Write {
  const { file: name } = tag;
  if (typeof name !== "string") throw new TemplateError("syntax_error", "The name of a partial must be a fixed text.");
  if (tag.with !== undefined || tag.forBinding !== undefined) {
    const message = "Name the values of a partial, such as {% render 'card', item: payload.item %}.";
    throw new TemplateError("syntax_error", message);
  }
  scope.notes.partials.add(name);
  const values = Object.entries(tag.hash.hash).map(
    ([key, token]) => [key, token === undefined ? () => true : compileToken(token, scope, "written")] as const,
  );
  return (run) =>
    run.include(name, (source) => {
      run.spend(values.length);
      const variables = values.map(([key, evaluate]) => [key, evaluate(run)] as const);
      run.isolate(variables, () => compilePartial(source)(run));
    });
}

function compileBranches(
  name: "if" | "unless",
  branches: readonly Branch[],
  elseTemplates: readonly Parsed[],
  scope: LiquidScope,
  compileAll: CompileAll,
): Write {
  let reached = true;
  const compiled = branches.map(({ value, templates }, index) => {
    const negated = name === "unless" && index === 0;
    const literal = literalCondition(value);
    const decided = literal === undefined ? undefined : literal.holds !== negated;
    const condition = compileValue(value, scope, "tested");
    const body = scope.notes.compileBranch(reached && decided !== false, () => compileAll(templates, scope));
    if (decided === true) reached = false;
    const holds: Evaluate = (run) => isLiquidTrue(condition(run)) !== negated;
    return { holds, body };
  });
  const otherwise = scope.notes.compileBranch(reached, () => compileAll(elseTemplates, scope));
  return (run) => {
    for (const { holds, body } of compiled) {
      run.spend(1);
      if (holds(run)) return body(run);
    }
    otherwise(run);
  };
}

function compileCase(tag: LiquidTag & { name: "case" }, scope: LiquidScope, compileAll: CompileAll): Write {
  const target = compileValue(tag.value, scope, "tested");
  const branches = tag.branches.map(({ values, templates }) => ({
    values: values.map((value) => compileToken(value, scope, "tested")),
    body: compileAll(templates, scope),
  }));
  const otherwise = compileAll(tag.elseTemplates, scope);
  return (run) => {
    run.spend(1);
    const wanted = target(run);
    let hit = false;
    for (const { values, body } of branches) {
      if (!values.some((value) => liquidEquals(run, wanted, value(run)))) continue;
      hit = true;
      body(run);
      if (run.interrupt !== "none") return;
    }
    if (!hit) otherwise(run);
  };
}

function compileCounter(name: "increment" | "decrement", variable: string): Write {
  return (run) => {
    run.spend(1);
    const count = run.counters.get(variable) ?? 0;
    // `increment` writes the value before counting, `decrement` the value after.
    run.counters.set(variable, name === "increment" ? count + 1 : count - 1);
    run.write(String(name === "increment" ? count : count - 1));
  };
}

function compileCycle(tag: LiquidTag & { name: "cycle" }, scope: LiquidScope): Write {
  const group = tag.group === undefined ? () => "" : compileToken(tag.group, scope, "written");
  const fingerprint = tag.candidates.map((candidate) => candidate.getText()).join();
  const candidates = tag.candidates.map((candidate) => compileValue(candidate, scope, "written"));
  return (run) => {
    const key = run.chargeText(`${textOf(run, group(run), "")}:${fingerprint}`);
    const at = run.cycles.get(key) ?? 0;
    run.cycles.set(key, (at + 1) % candidates.length);
    run.print(candidates[at]!(run), "");
  };
}
