import { isExpression } from "../../../../../platform/cel/index.ts";
import { memberPath, isTooDeep as nestsDeeper } from "../../../../../platform/document/index.ts";
import type { Json, JsonObject } from "./definition.ts";
import { limits } from "./limits.ts";

/** The CEL source of an expression. */
export function sourceOf(expression: string): string {
  return expression.slice(1);
}

/** An expression in a template, with its path. */
export interface PlacedExpression {
  readonly path: string;
  /** The text with its `=`. */
  readonly text: string;
}

/** All expressions in a template, in document order. */
export function* expressionsOf(template: Json | undefined, path: string): Generator<PlacedExpression> {
  if (typeof template === "string") {
    if (isExpression(template)) yield { path, text: template };
  } else if (Array.isArray(template)) {
    for (const [at, element] of template.entries()) yield* expressionsOf(element, `${path}[${at}]`);
  } else if (typeof template === "object" && template !== null) {
    const members = template as JsonObject;
    for (const name of Object.keys(members)) yield* expressionsOf(members[name], memberPath(path, name));
  }
}

/** Whether a template nests more levels than allowed. */
export function isTooDeep(template: Json): boolean {
  return nestsDeeper(template, limits.templateDepth);
}
