import type { Helper } from "../helper.ts";
import { numberOf } from "../values.ts";

/** Converts a value to a number; 0 if it is not one. */
function toNumber(value: unknown): number {
  const number = numberOf(value);
  return Number.isNaN(number) ? 0 : number;
}

const binary =
  (compute: (left: number, right: number) => number): Helper =>
  (_, [left, right]) =>
    compute(toNumber(left), toNumber(right));

/** Filters on numbers. Division of two integers gives an integer. */
export const mathFilters: readonly (readonly [string, Helper])[] = [
  ["abs", (_, [value]) => Math.abs(toNumber(value))],
  ["ceil", (_, [value]) => Math.ceil(toNumber(value))],
  ["floor", (_, [value]) => Math.floor(toNumber(value))],
  ["round", binary((value, places) => round(value, Math.min(Math.max(Math.trunc(places), 0), 15)))],
  ["plus", binary((left, right) => left + right)],
  ["minus", binary((left, right) => left - right)],
  ["times", binary((left, right) => left * right)],
  ["divided_by", binary(divide)],
  ["modulo", binary((left, right) => left - right * Math.floor(left / right))],
  ["at_least", binary(Math.max)],
  ["at_most", binary(Math.min)],
];

function divide(left: number, right: number): number {
  const quotient = left / right;
  return Number.isInteger(left) && Number.isInteger(right) ? Math.floor(quotient) : quotient;
}

function round(value: number, places: number): number {
  const factor = 10 ** places;
  return Math.round(value * factor) / factor;
}
