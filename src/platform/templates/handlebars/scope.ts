import type { Run } from "../run.ts";

/** The run-time state of a block: its context and its loop. */
export interface Frame {
  readonly parent: Frame | undefined;
  readonly context: unknown;
  readonly loop: Loop | undefined;
}

/** The state of a loop. */
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

/** The compile-time counterpart of a frame. */
export interface Scope {
  readonly parent: Scope | undefined;
  /** The path of its context from the top level, such as `payload.items[]`; undefined if it is unknown. */
  readonly label: string | undefined;
  /** The block parameters: the names of its context and of the key. */
  readonly params: readonly string[];
}

/** The scope of a partial: its context is known only where it is included. */
export const partialScope: Scope = {
  parent: { parent: undefined, label: undefined, params: [] },
  label: undefined,
  params: [],
};

/** The scope of the whole template. */
export const topScope: Scope = { parent: undefined, label: "", params: [] };
