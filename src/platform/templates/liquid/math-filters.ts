import type { Helper } from "../helper.ts";
import { numberOf } from "../values.ts";

/** A number for arithmetic: 0 for what is none. */
function amount(value: unknown): number {
  const number = numberOf(value);
  return Number.isNaN(number) ? 0 : number;
}

const binary =
  (compute: (left: number, right: number) => number): Helper =>
  (_, [left, right]) =>
    compute(amount(left), amount(right));

/** Filters on numbers. Between whole numbers, dividing gives a whole one. */
export const mathFilters: readonly (readonly [string, Helper])[] = [
  ["abs", (_, [value]) => Math.abs(amount(value))],
  ["ceil", (_, [value]) => Math.ceil(amount(value))],
  ["floor", (_, [value]) => Math.floor(amount(value))],
  ["round", binary((value, places) => rounded(value, Math.min(Math.max(Math.trunc(places), 0), 15)))],
  ["plus", binary((left, right) => left + right)],
  ["minus", binary((left, right) => left - right)],
  ["times", binary((left, right) => left * right)],
  ["divided_by", binary(divided)],
  ["modulo", binary((left, right) => left - right * Math.floor(left / right))],
  ["at_least", binary(Math.max)],
  ["at_most", binary(Math.min)],
];

function divided(left: number, right: number): number {
  const quotient = left / right;
  return Number.isInteger(left) && Number.isInteger(right) ? Math.floor(quotient) : quotient;
}

function rounded(value: number, places: number): number {
  const factor = 10 ** places;
  return Math.round(value * factor) / factor;
}
