import { isComprehension } from "../plan/plan-macro.ts";
import { type ASTNode, childrenOf } from "./parse.ts";

/** The variables and paths that an expression reads. */
export interface References {
  readonly variables: readonly string[];
  readonly paths: readonly string[];
}

/** Collects the root variables of a tree, and the paths below them as far as they are static. */
export function referencesOf(tree: ASTNode, isVariable: (name: string) => boolean): References {
  const paths = new Set<string>();
  collect(tree, (name) => isVariable(name), paths);
  const variables = new Set([...paths].map((path) => path.split(".")[0]!));
  return { variables: [...variables].sort(), paths: [...paths].sort() };
}

function collect(node: ASTNode, isVariable: (name: string) => boolean, paths: Set<string>): void {
  const path = pathOf(node, isVariable);
  if (path !== undefined) {
    paths.add(path);
    return;
  }
  if (!isComprehension(node)) {
    for (const child of childrenOf(node)) collect(child, isVariable, paths);
    return;
  }
  const [, range, [variable, ...body]] = node.args;
  collect(range, isVariable, paths);
  const inside = (name: string): boolean => name !== variable?.args && isVariable(name);
  for (const part of body) collect(part, inside, paths);
}

function pathOf(node: ASTNode, isVariable: (name: string) => boolean): string | undefined {
  switch (node.op) {
    case "id":
      return isVariable(node.args) ? node.args : undefined;
    case ".":
    case ".?":
      return below(pathOf(node.args[0], isVariable), node.args[1]);
    case "[]":
    case "[?]": {
      const key = node.args[1];
      return key.op === "value" && typeof key.args === "string"
        ? below(pathOf(node.args[0], isVariable), key.args)
        : undefined;
    }
    default:
      return undefined;
  }
}

const below = (path: string | undefined, field: string): string | undefined =>
  path === undefined ? undefined : `${path}.${field}`;
