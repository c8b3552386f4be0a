import { type ASTNode, Environment, ParseError } from "@marcbachmann/cel-js";
import { CelError } from "../cel-error.ts";
import { LIMITS } from "../limits.ts";
import { positionAt } from "./position.ts";

export type { ASTNode };

const ENVIRONMENT_BYTES = 65_536;

let environment: Environment | undefined;
let environmentBytes = 0;

/** Parses a source within the limits on its length and its syntax tree. Throws CelError of kind syntax or limit. */
export function parse(source: string): ASTNode {
  if (Buffer.byteLength(source) > LIMITS.sourceBytes)
    throw new CelError("limit", `An expression may have at most ${LIMITS.sourceBytes} bytes.`);
  const tree = parseWithLimits(source);
  checkDepth(tree, source);
  return tree;
}

function parseWithLimits(source: string): ASTNode {
  try {
    return parserEnvironment(source.length).parse(source).ast;
  } catch (error) {
    if (error instanceof ParseError) throw toCelError(source, error);
    // A stack overflow: the parser does not limit thousands of consecutive "!" or "-".
    if (error instanceof RangeError) throw new CelError("limit", "The expression is nested too deeply.");
    throw error;
  }
}

const LIMIT_MESSAGES: Readonly<Record<string, string>> = {
  maxAstNodes: "The expression has too many parts.",
  maxDepth: "The expression is nested too deeply.",
  maxListElements: `A list may be written with at most ${LIMITS.literalElements} elements.`,
  maxMapEntries: `A map may be written with at most ${LIMITS.literalElements} entries.`,
  maxCallArguments: `A call may have at most ${LIMITS.callArguments} arguments.`,
};

function toCelError(source: string, error: ParseError): CelError {
  const at = error.range === undefined ? undefined : positionAt(source, error.range.start);
  if (error.code !== "limit_exceeded")
    return new CelError("syntax", `${error.summary.replace("EOF", "end of expression")}.`, at);
  const limit = Object.keys(LIMIT_MESSAGES).find((name) => error.summary.includes(name));
  return new CelError("limit", limit === undefined ? `${error.summary}.` : LIMIT_MESSAGES[limit]!, at);
}

/**
 * The library retains every function name that it has parsed, in a map that environments share until one registers a function
 * of its own. This environment registers one, and is replaced after a number of bytes, so that invented names cannot exhaust
 * the memory.
 */
function parserEnvironment(sourceBytes: number): Environment {
  if (environment === undefined || environmentBytes > ENVIRONMENT_BYTES) {
    environment = new Environment({
      enableOptionalTypes: true,
      unlistedVariablesAreDyn: true,
      limits: {
        maxAstNodes: LIMITS.nodes,
        maxDepth: LIMITS.depth,
        maxListElements: LIMITS.literalElements,
        maxMapEntries: LIMITS.literalElements,
        maxCallArguments: LIMITS.callArguments,
      },
    }).registerFunction("ownNames(): bool", () => true);
    environmentBytes = 0;
  }
  environmentBytes += sourceBytes;
  return environment;
}

/** The child nodes of a node. */
export function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case "value":
    case "id":
      return [];
    case ".":
    case ".?":
      return [node.args[0]];
    case "!_":
    case "-_":
      return [node.args];
    case "call":
      return node.args[1];
    case "rcall":
      return [node.args[1], ...node.args[2]];
    case "map":
      return node.args.flat();
    default:
      return node.args;
  }
}

// Without recursion, because this check is what makes recursion safe in all later passes.
function checkDepth(tree: ASTNode, source: string): void {
  const open: [node: ASTNode, depth: number][] = [[tree, 1]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [node, depth] = next;
    if (depth > LIMITS.depth)
      throw new CelError("limit", "The expression is nested too deeply.", positionAt(source, node.start));
    const chained = node.op === "&&" || node.op === "||";
    for (const child of childrenOf(node)) open.push([child, chained && child.op === node.op ? depth : depth + 1]);
  }
}
