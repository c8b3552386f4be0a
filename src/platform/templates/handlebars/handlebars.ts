import Handlebars from "handlebars";
import { BoundedCache } from "../../cache/bounded-cache.ts";
import { checkSource, partialCharactersMax, partialWeight } from "../limits.ts";
import { Notes, type Template } from "../plan.ts";
import { Run } from "../run.ts";
import { type Position, TemplateError } from "../template-error.ts";
import { SafeText, textOf } from "../values.ts";
import { choice, eachOf, section, withContext } from "./blocks.ts";
import { compileCall, compileExpression, literalValue, startOf, unknownHelper } from "./expression.ts";
import { isTrue } from "./helpers.ts";
import { compilePartial } from "./partial.ts";
import { compilePath } from "./path.ts";
import { type Evaluate, type Frame, partialScope, type Scope, topScope, type Write } from "./scope.ts";

/**
 * Compiles a Handlebars template. Only the parser of Handlebars is used. Its runtime does not limit work, generates code from
 * templates, and reads inherited properties, so evaluation is implemented here.
 */
export function compileHandlebars(source: string): Template {
  checkSource(source, "handlebars");
  const notes = new Notes();
  const body = compileProgram(parse(source), topScope, notes);
  return {
    variables: [...notes.variables].sort(),
    printed: notes.printed,
    partials: notes.partials,
    render(values, options) {
      const run = new Run(values, options);
      body(run, { parent: undefined, context: values, loop: undefined });
      return run.finish();
    },
  };
}

const partialBodies = new BoundedCache<string, Write>(partialCharactersMax);

/** Compiles a partial, or returns it from the cache. Its paths are relative to the place that includes it. */
function compilePartialBody(source: string): Write {
  const known = partialBodies.get(source);
  if (known !== undefined) return known;
  checkSource(source, "handlebars");
  const body = compileProgram(parse(source), partialScope, new Notes());
  partialBodies.set(source, body, source.length + partialWeight);
  return body;
}

/** The parser's position at an error, which is missing from its type definitions. */
interface Lexer {
  readonly lexer: { readonly yylloc?: { readonly first_line: number; readonly first_column: number } };
}

function parse(source: string): hbs.AST.Program {
  try {
    return Handlebars.parse(source);
  } catch (error) {
    if (error instanceof RangeError) throw new TemplateError("limit_exceeded", "The template is nested too deeply.");
    if (!(error instanceof Error)) throw error;
    const { lineNumber, column } = error as { lineNumber?: number; column?: number };
    const loc = (Handlebars as unknown as { readonly Parser: Lexer }).Parser.lexer.yylloc;
    const position: Position =
      lineNumber !== undefined && column !== undefined
        ? { line: lineNumber, column: column + 1 }
        : { line: loc?.first_line ?? 1, column: (loc?.first_column ?? 0) + 1 };
    throw new TemplateError("syntax_error", messageOf(error.message), position);
  }
}

/** The parser's message without its source excerpt and its list of expected tokens. */
function messageOf(message: string): string {
  const got = /got '(\w+)'\s*$/.exec(message)?.[1];
  if (got === "EOF") return "The template ends too early: something is not closed.";
  if (got !== undefined) return "The template is not well-formed here.";
  return message.split(" - ")[0]!.split("\n")[0]!.slice(0, 200);
}

function compileProgram(program: hbs.AST.Program | undefined, scope: Scope, notes: Notes): Write {
  const writes = (program?.body ?? []).flatMap((statement) => compileStatement(statement, scope, notes) ?? []);
  if (writes.length === 1) return writes[0]!;
  return (run, frame) => {
    for (const write of writes) write(run, frame);
  };
}

function compileStatement(node: hbs.AST.Statement, scope: Scope, notes: Notes): Write | undefined {
  switch (node.type) {
    case "ContentStatement": {
      const { value } = node as hbs.AST.ContentStatement;
      return value === "" ? undefined : (run) => run.write(value);
    }
    case "CommentStatement":
      return undefined;
    case "MustacheStatement":
      return compileMustache(node as hbs.AST.MustacheStatement, scope, notes);
    case "BlockStatement":
      return notes.compileNested(startOf(node), () => compileBlock(node as hbs.AST.BlockStatement, scope, notes));
    case "PartialStatement":
      return compilePartial(node as hbs.AST.PartialStatement, scope, notes, compilePartialBody);
    case "PartialBlockStatement":
      throw new TemplateError("syntax_error", "A partial cannot have a block; write {{> name}}.", startOf(node));
    default:
      throw new TemplateError("syntax_error", "Decorators are not supported.", startOf(node));
  }
}

function compileMustache(node: hbs.AST.MustacheStatement, scope: Scope, notes: Notes): Write {
  const { path, params, hash, escaped } = node;
  if (params.length > 0 || hash !== undefined) {
    return compilePrint(compileCall(node as unknown as hbs.AST.SubExpression, scope, notes), escaped);
  }
  if (path.type !== "PathExpression") return compilePrint(compileExpression(path, scope, notes, "written"), escaped);
  const { topName } = compilePath(path as hbs.AST.PathExpression, scope, notes);
  if (topName !== undefined && notes.reachable) notes.printed.add(topName);
  return compilePrint(compileExpression(path, scope, notes, "written"), escaped);
}

function compilePrint(value: Evaluate, escaped: boolean): Write {
  if (escaped) return (run, frame) => run.print(value(run, frame), ",");
  return (run: Run, frame: Frame) => run.print(new SafeText(textOf(run, value(run, frame), ",")), ",");
}

function compileBlock(node: hbs.AST.BlockStatement, scope: Scope, notes: Notes): Write {
  const name = String(node.path.original);
  const { params, hash } = node;
  // `{{^name}}…{{/name}}` has only an inverse.
  const programOf = (inner: Scope) => compileProgram(node.program, inner, notes);
  const inverseOf = () => compileProgram(node.inverse, scope, notes);
  const [param] = params;
  switch (name) {
    case "if":
    case "unless":
      return compileCondition(node, name, scope, notes);
    case "each":
    case "with": {
      const value = compileExpression(onlyParam(node), scope, notes, node.inverse === undefined ? "written" : "tested");
      const make = name === "each" ? eachOf : withContext;
      const body = programOf(innerScope(node, scope, notes, name === "each" ? "[]" : ""));
      return make(value, body, inverseOf());
    }
    case "raw":
      if (params.length > 0 || node.program.body.some(({ type }) => type !== "ContentStatement")) break;
      return programOf(scope);
    default:
      break;
  }
  if (param !== undefined || hash !== undefined) throw unknownHelper(name, startOf(node));
  const value = compileExpression(node.path, scope, notes, "tested");
  // Whether the value is a list, so that its items are the context, is known only at render time.
  return section(value, programOf(innerScope(node, scope, notes, "[]")), inverseOf());
}

function compileCondition(node: hbs.AST.BlockStatement, name: "if" | "unless", scope: Scope, notes: Notes): Write {
  const condition = compileExpression(onlyParam(node), scope, notes, "tested");
  const includeZero = node.hash?.pairs.find(({ key }) => key === "includeZero")?.value;
  const zero = includeZero === undefined ? undefined : compileExpression(includeZero, scope, notes, "tested");
  const holds: Evaluate =
    zero === undefined
      ? condition
      : (run, frame) => {
          const value = condition(run, frame);
          return value === 0 && isTrue(zero(run, frame)) ? true : value;
        };
  const literal = literalValue(node.params[0]);
  const decided =
    literal === undefined ? undefined : isTrue(literal.value) || (literal.value === 0 && zero !== undefined);
  const whenTrue = (program: hbs.AST.Program | undefined) =>
    notes.compileBranch(decided !== false, () => compileProgram(program, scope, notes));
  const whenFalse = (program: hbs.AST.Program | undefined) =>
    notes.compileBranch(decided !== true, () => compileProgram(program, scope, notes));
  if (name === "if") return choice(holds, whenTrue(node.program), whenFalse(node.inverse));
  return choice(holds, whenTrue(node.inverse), whenFalse(node.program));
}

/** The scope inside a block that changes the context. */
function innerScope(node: hbs.AST.BlockStatement, scope: Scope, notes: Notes, suffix: "" | "[]"): Scope {
  const of = node.params[0] ?? node.path;
  const label =
    of.type === "PathExpression" ? compilePath(of as hbs.AST.PathExpression, scope, notes).label + suffix : undefined;
  return { parent: scope, label, params: node.program?.blockParams ?? [] };
}

function onlyParam(node: hbs.AST.BlockStatement): hbs.AST.Expression {
  if (node.params.length === 1) return node.params[0]!;
  throw new TemplateError("syntax_error", `The helper ${node.path.original} takes one argument.`, startOf(node));
}
