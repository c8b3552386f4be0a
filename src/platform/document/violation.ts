import type { FindRepair, Violation } from "../../errors/index.ts";

/** A position in a text: line and column from 1. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** A rule of the language that a document breaks. */
export interface DocumentViolation {
  /** Where, for example `steps[2].branch[0].when`; empty for the document itself. */
  readonly path: string;
  /** A stable name of the rule, for example `unknown_field`. */
  readonly rule: string;
  /** Human-readable problem and correction. */
  readonly message: string;
  /** The place in an expression (including its `=`), or in the text that the document was read from. */
  readonly position?: TextPosition | undefined;
  /** What the value or its name should probably be. */
  readonly repair?: FindRepair | undefined;
}

/** How many violations of a document are reported at most. */
export const violationsMax = 100;

const nameCharactersMax = 100;

/** Collects the violations of a document, up to a maximum. */
export class Violations {
  readonly list: DocumentViolation[] = [];

  /** Whether further violations are dropped. Readers stop early then, so that hostile documents cost little. */
  get isFull(): boolean {
    return this.list.length >= violationsMax;
  }

  /** Adds a violation. Returns undefined, so that readers can return the result. */
  add(path: string, rule: string, message: string, position?: TextPosition, repair?: FindRepair): undefined {
    if (this.isFull) return;
    this.list.push({ path, rule, message, ...(position !== undefined && { position }), ...(repair && { repair }) });
  }
}

/** The path of a member of an object. */
export function memberPath(path: string, name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return `${path}[${JSON.stringify(shortName(name))}]`;
  return path === "" ? shortName(name) : `${path}.${shortName(name)}`;
}

/** Shortens a name from a document, so that it can be part of a message. */
export function shortName(name: string): string {
  return (name.length > nameCharactersMax ? `${name.slice(0, nameCharactersMax)}…` : name).toWellFormed();
}

/** The violations of a document as those of the field of a request that holds it, with their repairs. */
export function toFieldViolations(list: readonly DocumentViolation[], root: string) {
  const repairs = new Map<string, FindRepair>();
  const violations = list.map(({ path, rule, message, position, repair }): Violation => {
    const field = path === "" ? root : `${root}${path.startsWith("[") ? "" : "."}${path}`;
    const place = position === undefined ? "" : `line ${position.line}, column ${position.column}: `;
    if (repair !== undefined) repairs.set(field, repair);
    return { field, rule, message: `${place}${message}` };
  });
  return { violations, repairs };
}
