import type { Notes } from "../plan.ts";
import { TemplateError } from "../template-error.ts";
import { memberOf } from "../values.ts";
import type { Evaluate, Frame, Loop, Scope } from "./scope.ts";

type Path = hbs.AST.PathExpression;

/** A path, resolved as far as possible at compile time. */
export interface ResolvedPath {
  readonly evaluate: Evaluate;
  /** Its full path from the top level, used to report a missing value. */
  readonly label: string;
  /** The name of a top-level value; undefined for a nested path. */
  readonly topName: string | undefined;
}

const loopNames: ReadonlySet<string> = new Set(["index", "key", "first", "last"] satisfies (keyof Loop)[]);

/** Compiles a path: `name`, `this`, `../name`, `@index`, `@root.name` or a block parameter. */
export function compilePath(path: Path, scope: Scope, notes: Notes): ResolvedPath {
  const parts = path.parts as readonly string[];
  if (path.data) return dataPath(path, parts, notes);
  const named = /^(?:\.|this\b)/.test(path.original) || path.depth > 0 ? undefined : paramOf(scope, parts[0]);
  if (named !== undefined) {
    const { up, isKey, label } = named;
    const start: Evaluate = (_, frame) => {
      const from = climb(frame, up);
      return isKey ? from?.loop?.key : from?.context;
    };
    return member(start, parts.slice(1), joinLabel(label, parts.slice(1)) ?? path.original);
  }
  const at = climbScope(scope, path.depth);
  if (at === undefined) return { evaluate: () => undefined, label: path.original, topName: undefined };
  if (at.parent === undefined) return topPath(parts, notes, path.original);
  const up = path.depth;
  const label = joinLabel(at.label, parts);
  if (label !== undefined && isPlain(label)) notes.variables.add(label);
  return member((_, frame) => climb(frame, up)?.context, parts, label ?? path.original);
}

function dataPath(path: Path, parts: readonly string[], notes: Notes): ResolvedPath {
  const [name = "", ...rest] = parts;
  if (name === "root") return topPath(rest, notes, path.original);
  if (!loopNames.has(name) || rest.length > 0) {
    const { line, column } = path.loc.start;
    throw new TemplateError("syntax_error", `There is no @${parts.join(".")}.`, { line, column: column + 1 });
  }
  const up = path.depth;
  const read = (frame: Frame): unknown => loopOf(frame, up)?.[name as keyof Loop];
  return { evaluate: (_, frame) => read(frame), label: path.original, topName: undefined };
}

function topPath(parts: readonly string[], notes: Notes, original: string): ResolvedPath {
  const [name, ...rest] = parts;
  if (name === undefined) return { evaluate: (run) => run.values, label: original, topName: undefined };
  const label = parts.join(".");
  notes.variables.add(label);
  const found = member((run) => run.top(name), rest, label);
  return { ...found, topName: rest.length === 0 ? name : undefined };
}

function member(start: Evaluate, parts: readonly string[], label: string): ResolvedPath {
  const [first, second] = parts;
  const steps = parts.length + 1;
  const evaluate: Evaluate =
    first === undefined
      ? start
      : parts.length === 1
        ? (run, frame) => memberOf(start(run, frame), first)
        : parts.length === 2
          ? (run, frame) => memberOf(memberOf(start(run, frame), first), second!)
          : (run, frame) => {
              run.spend(steps);
              let value = start(run, frame);
              for (const part of parts) value = memberOf(value, part);
              return value;
            };
  return { evaluate, label, topName: undefined };
}

function paramOf(scope: Scope, name: string | undefined) {
  let up = 0;
  for (let at: Scope | undefined = scope; at !== undefined && name !== undefined; at = at.parent, up++) {
    const index = at.params.indexOf(name);
    if (index >= 0) return { up, isKey: index === 1, label: index === 0 ? at.label : undefined };
  }
  return undefined;
}

/** Whether a label refers to a single value rather than to items of a list. */
function isPlain(label: string): boolean {
  return label !== "" && !/\[\]|[@/]/.test(label);
}

function joinLabel(label: string | undefined, parts: readonly string[]): string | undefined {
  return label === undefined ? undefined : [label, ...parts].filter((part) => part !== "").join(".");
}

function climbScope(scope: Scope, depth: number): Scope | undefined {
  let at: Scope | undefined = scope;
  for (let left = depth; left > 0; left--) at = at?.parent;
  return at;
}

function climb(frame: Frame, depth: number): Frame | undefined {
  let at: Frame | undefined = frame;
  for (let left = depth; left > 0; left--) at = at?.parent;
  return at;
}

/** The loop that encloses a frame; one level further out per depth. */
function loopOf(frame: Frame, depth: number): Loop | undefined {
  let left = depth;
  for (let at: Frame | undefined = frame; at !== undefined; at = at.parent) {
    if (at.loop !== undefined && left-- === 0) return at.loop;
  }
  return undefined;
}
