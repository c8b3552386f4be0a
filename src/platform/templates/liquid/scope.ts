import { Run } from "../run.ts";

/** A loop that is running: the item that it is at, and how far it has come. */
export interface LiquidLoop {
  item: unknown;
  index: number;
  readonly length: number;
}

/** What a rendering of a Liquid template keeps besides its output. */
export class LiquidRun extends Run {
  /** What `assign` and `capture` made. */
  readonly locals = new Map<string, unknown>();
  /** What `increment` and `decrement` count, apart from the variables. */
  readonly counters = new Map<string, number>();
  /** How far each `cycle` has come. */
  readonly cycles = new Map<string, number>();
  readonly loops: LiquidLoop[] = [];
  /** Set until the loop that it is for has seen it. */
  interrupt: "none" | "break" | "continue" = "none";
}

/** A compiled expression. */
export type Evaluate = (run: LiquidRun) => unknown;

/** A compiled piece of a template. */
export type Write = (run: LiquidRun) => void;
