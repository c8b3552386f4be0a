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
  add(path: string, rule: string, message: string, position?: TextPosition): undefined {
    if (!this.isFull) this.list.push({ path, rule, message, ...(position !== undefined && { position }) });
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
