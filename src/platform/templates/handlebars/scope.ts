import type { Run } from "../run.ts";

/** What a block is rendered with: its context, and what its loop knows. */
export interface Frame {
  readonly parent: Frame | undefined;
  readonly context: unknown;
  readonly loop: Loop | undefined;
}

/** Where a loop stands. */
export interface Loop {
  readonly index: number;
  readonly key: string | number;
  readonly first: boolean;
  readonly last: boolean;
}

/** A compiled expression. */
export type Evaluate = (run: Run, frame: Frame) => unknown;

/** A compiled statement. */
export type Write = (run: Run, frame: Frame) => void;

/** What is known of a frame while compiling: one scope for each. */
export interface Scope {
  readonly parent: Scope | undefined;
  /** What its context is called from the top, such as `payload.items[]`; undefined when that cannot be said. */
  readonly label: string | undefined;
  /** The names that the block gives to its context and to the key. */
  readonly params: readonly string[];
}

/** The scope of the whole template. */
export const topScope: Scope = { parent: undefined, label: "", params: [] };
