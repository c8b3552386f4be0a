import type { Helper, Named } from "../helper.ts";
import type { Notes } from "../plan.ts";
import { type Position, TemplateError } from "../template-error.ts";
import { testHelpers, valueHelpers } from "./helpers.ts";
import { compilePath } from "./path.ts";
import type { Evaluate, Scope } from "./scope.ts";

/** A helper call in the syntax tree. */
type Call = Pick<hbs.AST.SubExpression, "path" | "params" | "hash" | "loc">;

/** The use of a value: a missing value is reported if it is written, and not reported if it is only tested. */
export type Use = "written" | "tested";

export function compileExpression(node: hbs.AST.Expression, scope: Scope, notes: Notes, use: Use): Evaluate {
  switch (node.type) {
    case "PathExpression": {
      const { evaluate, label } = compilePath(node as hbs.AST.PathExpression, scope, notes);
      return use === "tested" ? charging(evaluate) : reportingMissing(evaluate, label);
    }
    case "SubExpression":
      return notes.compileNested(startOf(node), () => compileCall(node as hbs.AST.SubExpression, scope, notes));
    case "StringLiteral":
    case "NumberLiteral":
    case "BooleanLiteral": {
      const { value } = node as hbs.AST.StringLiteral;
      return () => value;
    }
    case "NullLiteral":
      return () => null;
    case "UndefinedLiteral":
      return () => undefined;
    default:
      throw new TemplateError("syntax_error", "This expression is not supported here.", startOf(node));
  }
}

/** Compiles a call of a helper that returns a value. */
export function compileCall({ path, params, hash, loc }: Call, scope: Scope, notes: Notes): Evaluate {
  const name = String(path.original);
  const helper = valueHelpers.get(name);
  if (helper === undefined) throw unknownHelper(name, startOf({ loc }));
  const use: Use = testHelpers.has(name) ? "tested" : "written";
  const args = params.map((param) => compileExpression(param, scope, notes, use));
  const pairs = (hash?.pairs ?? []).map(
    ({ key, value }) => [key, compileExpression(value, scope, notes, "tested")] as const,
  );
  return applyHelper(helper, args, pairs);
}

function applyHelper(
  helper: Helper,
  args: readonly Evaluate[],
  pairs: readonly (readonly [string, Evaluate])[],
): Evaluate {
  const cost = 2 + args.length + pairs.length;
  return (run, frame) => {
    run.spend(cost);
    const given = args.map((arg) => arg(run, frame));
    if (pairs.length === 0) return helper(run, given, noNamedArgs);
    const named: Record<string, unknown> = Object.create(null);
    for (const [key, value] of pairs) named[key] = value(run, frame);
    return helper(run, given, named);
  };
}

const noNamedArgs: Named = Object.freeze(Object.create(null));

function charging(evaluate: Evaluate): Evaluate {
  return (run, frame) => {
    run.spend(1);
    return evaluate(run, frame);
  };
}

function reportingMissing(evaluate: Evaluate, label: string): Evaluate {
  return (run, frame) => {
    run.spend(1);
    const value = evaluate(run, frame);
    if (value === undefined) run.missing(label);
    return value;
  };
}

/** The value of a literal condition; undefined if the condition is known only at render time. */
export function literalValue(node: hbs.AST.Expression | undefined): { readonly value: unknown } | undefined {
  switch (node?.type) {
    case "StringLiteral":
    case "NumberLiteral":
    case "BooleanLiteral":
      return { value: (node as hbs.AST.StringLiteral).value };
    case "NullLiteral":
    case "UndefinedLiteral":
      return { value: undefined };
    default:
      return undefined;
  }
}

export function unknownHelper(name: string, position: Position): TemplateError {
  return new TemplateError("syntax_error", `There is no helper named ${name.slice(0, 64)}.`, position);
}

/** The start position of a node, with columns from 1. */
export function startOf({ loc }: Pick<hbs.AST.Node, "loc">): Position {
  return { line: loc.start.line, column: loc.start.column + 1 };
}
