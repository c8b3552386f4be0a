import { Run } from "../run.ts";

/** The state of a running loop. */
export interface LiquidLoop {
  item: unknown;
  index: number;
  readonly length: number;
}

/** The state of rendering a Liquid template. */
export class LiquidRun extends Run {
  /** Variables set by `assign` and `capture`. */
  readonly locals = new Map<string, unknown>();
  /** Counters of `increment` and `decrement`, which are separate from variables. */
  readonly counters = new Map<string, number>();
  /** The position of each `cycle`. */
  readonly cycles = new Map<string, number>();
  readonly loops: LiquidLoop[] = [];
  /** Set by `break` and `continue`, and reset by the enclosing loop. */
  interrupt: "none" | "break" | "continue" = "none";

  /** Runs a partial with variables of its own: it sees neither those of its caller nor its loops. */
  isolate(variables: Iterable<readonly [string, unknown]>, body: () => void): void {
    const locals = [...this.locals];
    const loops = this.loops.splice(0);
    this.locals.clear();
    for (const [name, value] of variables) this.locals.set(name, value);
    body();
    this.locals.clear();
    for (const [name, value] of locals) this.locals.set(name, value);
    this.loops.splice(0, this.loops.length, ...loops);
    this.interrupt = "none";
  }
}

/** A compiled expression. */
export type Evaluate = (run: LiquidRun) => unknown;

/** A compiled part of a template. */
export type Write = (run: LiquidRun) => void;
