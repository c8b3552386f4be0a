import type { Notes } from "../plan.ts";
import type { Run } from "../run.ts";
import { TemplateError } from "../template-error.ts";
import { keysOf, memberOf } from "../values.ts";
import { compileExpression, startOf } from "./expression.ts";
import type { Evaluate, Frame, Scope, Write } from "./scope.ts";

/** Compiles the inclusion of a partial: `{{> name}}`, `{{> name context}}` or `{{> name key=value}}`. */
export function compilePartial(
  node: hbs.AST.PartialStatement,
  scope: Scope,
  notes: Notes,
  compileBody: (source: string) => Write,
): Write {
  const { params, hash } = node;
  const name = nameOf(node);
  if (params.length > 1) {
    throw new TemplateError("syntax_error", "A partial takes one context and named values.", startOf(node));
  }
  notes.partials.add(name);
  const [given] = params;
  const context = given === undefined ? undefined : compileExpression(given, scope, notes, "tested");
  const pairs = (hash?.pairs ?? []).map(
    ({ key, value }) => [key, compileExpression(value, scope, notes, "tested")] as const,
  );
  return (run, frame) =>
    run.include(name, (source) => {
      const base = context === undefined ? frame.context : context(run, frame);
      const inner = pairs.length === 0 ? base : withValues(run, frame, base, pairs);
      compileBody(source)(run, { parent: frame, context: inner, loop: undefined });
    });
}

function nameOf(node: hbs.AST.PartialStatement): string {
  // A literal is a path whose parts are the name; `lookup` and other calls are subexpressions.
  if (node.name.type === "SubExpression") {
    throw new TemplateError("syntax_error", "The name of a partial must be fixed.", startOf(node));
  }
  return String((node.name as hbs.AST.PathExpression).original);
}

/** A context with additional values. */
function withValues(run: Run, frame: Frame, base: unknown, pairs: readonly (readonly [string, Evaluate])[]) {
  const merged: Record<string, unknown> = Object.create(null);
  const keys = keysOf(run, base);
  run.spend(keys.length + pairs.length);
  for (const key of keys) merged[key] = memberOf(base, key);
  for (const [key, value] of pairs) merged[key] = value(run, frame);
  return merged;
}
