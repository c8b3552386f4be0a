import { CelError } from "../cel-error.ts";
import { LIMITS } from "../limits.ts";
import type { Value } from "../values/values.ts";

const NO_SLOTS: Value[] = [];

/** The state of one evaluation: its input values, the variables of its comprehensions, and its remaining steps. */
export class Frame {
  readonly values: Readonly<Record<string, unknown>>;
  readonly slots: Value[];
  steps: number = LIMITS.steps;

  constructor(values: Readonly<Record<string, unknown>>, slotCount: number) {
    this.values = values;
    this.slots = slotCount === 0 ? NO_SLOTS : new Array(slotCount).fill(null);
  }
}

/** Charges steps; throws when none are left. Unlike a Failure, this error is not absorbed by any operator. */
export function charge(frame: Frame, steps: number): void {
  frame.steps -= steps;
  if (frame.steps < 0) throw new CelError("budget", "The expression exceeds the work limit of one evaluation.");
}

/** Charges for a native operation on a whole string; a short string is included in the step of its node. */
export function chargeText(frame: Frame, length: number): void {
  if (length > 64) charge(frame, length >> 4);
}

/** Charges for a loop over every character of a string. */
export function chargeScan(frame: Frame, length: number): void {
  if (length > 16) charge(frame, length >> 2);
}

/** Charges for a new string, and throws before it is created if it would be too long. */
export function chargeNewText(frame: Frame, length: number): void {
  if (length > LIMITS.stringLength)
    throw new CelError("budget", `A string must not be longer than ${LIMITS.stringLength} characters.`);
  chargeText(frame, length);
}
