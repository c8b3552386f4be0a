import {
  type CelVariables,
  compileTemplate as compile,
  type Template as JsonTemplate,
  typeOfSchema,
} from "../../../../../platform/cel/index.ts";
import type { Definition, Json } from "../../../definitions/index.ts";

export type { TemplateValues as Values } from "../../../../../platform/cel/index.ts";

export function expressionVariables({ inputSchema }: Pick<Definition, "inputSchema">): CelVariables {
  return { input: typeOfSchema(inputSchema), steps: "map", item: "any", index: "int", err: "map", run: "map" };
}

/** A compiled template: a JSON value with expressions in it. */
export interface Template extends JsonTemplate {
  /** The ids of the steps whose outputs it reads. */
  readonly reads: readonly string[];
}

/** Compiles a template. Throws CelError if an expression is invalid. */
export function compileTemplate(template: Json, declared: CelVariables): Template {
  const compiled = compile(template, declared);
  const reads = new Set<string>();
  for (const path of compiled.paths) {
    const [root, id] = path.split(".");
    if (root === "steps" && id !== undefined) reads.add(id);
  }
  return { ...compiled, reads: [...reads] };
}
