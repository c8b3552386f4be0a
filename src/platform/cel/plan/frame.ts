import { CelError } from "../cel-error.ts";
import { LIMITS } from "../limits.ts";
import type { Value } from "../values/values.ts";

const NO_SLOTS: Value[] = [];

/** One evaluation: the values it reads, the variables of its comprehensions, and the work it may still do. */
export class Frame {
  readonly values: Readonly<Record<string, unknown>>;
  readonly slots: Value[];
  steps: number = LIMITS.steps;

  constructor(values: Readonly<Record<string, unknown>>, slotCount: number) {
    this.values = values;
    this.slots = slotCount === 0 ? NO_SLOTS : new Array(slotCount).fill(null);
  }
}

/** Pays for work; throws when the evaluation has no steps left, which no operator of the language can absorb. */
export function charge(frame: Frame, steps: number): void {
  frame.steps -= steps;
  if (frame.steps < 0) throw new CelError("budget", "The expression needs more work than one evaluation may do.");
}

/** Pays for what the machine does with a whole string at once; short ones are part of the step of their node. */
export function chargeText(frame: Frame, length: number): void {
  if (length > 64) charge(frame, length >> 4);
}

/** Pays for looking at every character of a string in turn. */
export function chargeScan(frame: Frame, length: number): void {
  if (length > 16) charge(frame, length >> 2);
}

/** Refuses a string that would be longer than an evaluation may build, before it is built. */
export function chargeNewText(frame: Frame, length: number): void {
  if (length > LIMITS.stringLength)
    throw new CelError("budget", `A string may not grow beyond ${LIMITS.stringLength} characters.`);
  chargeText(frame, length);
}
