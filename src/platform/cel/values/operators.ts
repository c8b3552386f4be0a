import { charge, chargeNewText, chargeScan, type Frame } from "../plan/frame.ts";
import { checkedDuration, checkedTimestamp } from "./time.ts";
import {
  Duration,
  Failure,
  isInt64,
  kindOf,
  ListValue,
  listItem,
  listLength,
  Timestamp,
  type Value,
} from "./values.ts";

export type ArithmeticOperator = "+" | "-" | "*" | "/" | "%";

/** The ordering operators. */
export type OrderOperator = "<" | "<=" | ">" | ">=";

/** Applies an arithmetic operator; an int and a double give a double, because JSON does not distinguish 5 from 5.0. */
export function arithmetic(frame: Frame, operator: ArithmeticOperator, a: Value, b: Value, at: number): Value {
  if (typeof a === "bigint" && typeof b === "bigint") return intArithmetic(operator, a, b, at);
  if (isNumber(a) && isNumber(b)) return doubleArithmetic(operator, Number(a), Number(b), at);
  if (operator === "+") return add(frame, a, b, at);
  if (operator === "-") return subtract(a, b, at);
  return noOverload(operator, a, b, at);
}

/**
 * Divides numbers of which one comes from JSON. JSON has no ints, although whole numbers are computed as ints, so the quotient
 * is not truncated.
 */
export function divideExactly(frame: Frame, a: Value, b: Value, at: number): Value {
  const hasRest = typeof a === "bigint" && typeof b === "bigint" && b !== 0n && a % b !== 0n;
  return hasRest ? Number(a) / Number(b) : arithmetic(frame, "/", a, b, at);
}

const isNumber = (value: Value): value is number | bigint => typeof value === "number" || typeof value === "bigint";

function noOverload(operator: string, a: Value, b: Value, at: number): Failure {
  return new Failure(`'${operator}' cannot be applied to ${kindOf(a)} and ${kindOf(b)}`, at);
}

function intArithmetic(operator: ArithmeticOperator, a: bigint, b: bigint, at: number): Value {
  if ((operator === "/" || operator === "%") && b === 0n) return new Failure("division by zero", at);
  const result = intResult(operator, a, b);
  return isInt64(result) ? result : new Failure("integer overflow", at);
}

function intResult(operator: ArithmeticOperator, a: bigint, b: bigint): bigint {
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    default:
      return a % b;
  }
}

function doubleArithmetic(operator: ArithmeticOperator, a: number, b: number, at: number): Value {
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    default:
      return new Failure("'%' cannot be applied to doubles", at);
  }
}

function add(frame: Frame, a: Value, b: Value, at: number): Value {
  if (typeof a === "string" && typeof b === "string") {
    chargeNewText(frame, a.length + b.length);
    return a + b;
  }
  if (a instanceof Timestamp && b instanceof Duration) return checkedTimestamp(a.ns + b.ns, at);
  if (a instanceof Duration && b instanceof Timestamp) return checkedTimestamp(a.ns + b.ns, at);
  if (a instanceof Duration && b instanceof Duration) return checkedDuration(a.ns + b.ns, at);
  if (kindOf(a) === "list" && kindOf(b) === "list") return concatenate(frame, a as object, b as object);
  return noOverload("+", a, b, at);
}

function concatenate(frame: Frame, a: object, b: object): Value {
  const length = listLength(a) + listLength(b);
  charge(frame, 1 + 2 * length);
  const items: Value[] = [];
  for (const list of [a, b]) for (let i = 0; i < listLength(list); i += 1) items.push(listItem(list, i) ?? null);
  return new ListValue(items);
}

function subtract(a: Value, b: Value, at: number): Value {
  if (a instanceof Timestamp && b instanceof Timestamp) return checkedDuration(a.ns - b.ns, at);
  if (a instanceof Timestamp && b instanceof Duration) return checkedTimestamp(a.ns - b.ns, at);
  if (a instanceof Duration && b instanceof Duration) return checkedDuration(a.ns - b.ns, at);
  return noOverload("-", a, b, at);
}

/** `-a`. */
export function negate(a: Value, at: number): Value {
  if (typeof a === "number") return -a;
  if (typeof a === "bigint") return isInt64(-a) ? -a : new Failure("integer overflow", at);
  if (a instanceof Duration) return checkedDuration(-a.ns, at);
  return new Failure(`'-' cannot be applied to ${kindOf(a)}`, at);
}

/** Compares two values; ints and doubles by their numeric value, strings by code point. */
export function order(frame: Frame, operator: OrderOperator, a: Value, b: Value, at: number): Value {
  if (isNumber(a) && isNumber(b)) return applyOrder(operator, a, b);
  if (typeof a === "string" && typeof b === "string") return applyOrder(operator, compareText(frame, a, b), 0);
  if (typeof a === "boolean" && typeof b === "boolean") return applyOrder(operator, Number(a), Number(b));
  if (a instanceof Timestamp && b instanceof Timestamp) return applyOrder(operator, a.ns, b.ns);
  if (a instanceof Duration && b instanceof Duration) return applyOrder(operator, a.ns, b.ns);
  return noOverload(operator, a, b, at);
}

function applyOrder(operator: OrderOperator, a: number | bigint, b: number | bigint): boolean {
  switch (operator) {
    case "<":
      return a < b;
    case "<=":
      return a <= b;
    case ">":
      return a > b;
    default:
      return a >= b;
  }
}

function compareText(frame: Frame, a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  chargeScan(frame, shared);
  for (let i = 0; i < shared; i += 1) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) return codePointOrder(left) - codePointOrder(right);
  }
  return a.length - b.length;
}

// A surrogate belongs to a code point above all single-unit ones, although its own value is lower than some of them.
function codePointOrder(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
