import type { Template as Parsed, Token } from "liquidjs";
import { TemplateError } from "../template-error.ts";
import { numberOf } from "../values.ts";
import { compileToken, type LiquidScope } from "./expression.ts";
import type { Evaluate, LiquidRun, Write } from "./scope.ts";
import { itemsOf } from "./values.ts";

/** A parsed loop. */
export interface ForTag {
  readonly name: "for";
  readonly variable: string;
  readonly collection: Token & { getText(): string };
  readonly hash: { readonly hash: Readonly<Record<string, Token | undefined>> };
  readonly templates: readonly Parsed[];
  readonly elseTemplates: readonly Parsed[];
}

const modifiers: ReadonlySet<string> = new Set(["offset", "limit", "reversed"]);

/** Compiles a loop over a list, a range or an object. */
export function compileFor(
  { variable, collection, hash, templates, elseTemplates }: ForTag,
  scope: LiquidScope,
  compileAll: (templates: readonly Parsed[], scope: LiquidScope) => Write,
): Write {
  const given = new Map(Object.entries(hash.hash));
  for (const name of given.keys()) {
    if (!modifiers.has(name))
      throw new TemplateError(
        "syntax_error",
        `A loop has no modifier ${name.slice(0, 64)}; use offset, limit or reversed.`,
      );
  }
  const numberFor = (name: string): Evaluate | undefined => {
    const token = given.get(name);
    return token === undefined ? undefined : compileToken(token, scope, "written");
  };
  const [offset, limit, reversed] = [numberFor("offset"), numberFor("limit"), given.has("reversed")];
  const items = compileToken(collection, scope, elseTemplates.length > 0 ? "tested" : "written");
  const label = labelOf(collection, scope);
  const body = compileAll(templates, { ...scope, loops: [...scope.loops, { variable, label }] });
  const otherwise = compileAll(elseTemplates, scope);

  return (run) => {
    run.spend(2);
    const all = itemsOf(run, items(run));
    const from = Math.min(countOf(run, offset, 0), all.length);
    const length = Math.min(countOf(run, limit, Number.POSITIVE_INFINITY), all.length - from);
    if (length === 0) return otherwise(run);
    const loop = { item: undefined as unknown, index: 0, length };
    run.loops.push(loop);
    for (let index = 0; index < length; index++) {
      run.spend(3);
      loop.index = index;
      loop.item = all.at(from + (reversed ? length - 1 - index : index));
      body(run);
      const { interrupt } = run;
      run.interrupt = "none";
      if (interrupt === "break") break;
    }
    run.loops.pop();
  };
}

function countOf(run: LiquidRun, value: Evaluate | undefined, otherwise: number): number {
  const count = value === undefined ? Number.NaN : Math.trunc(numberOf(value(run)));
  return Number.isNaN(count) ? otherwise : Math.max(count, 0);
}

/** The path of a collection's items, if the collection is a path. */
function labelOf(collection: { getText(): string }, { loops }: LiquidScope): string | undefined {
  const text = collection.getText().trim();
  if (!/^[\w-]+(?:\.[\w-]+)*$/.test(text)) return undefined;
  const [name, ...rest] = text.split(".");
  const start = loops.findLast(({ variable }) => variable === name);
  return `${[start === undefined ? name : (start.label ?? name), ...rest].join(".")}[]`;
}
