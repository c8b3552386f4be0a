import type { DescEnum } from "@bufbuild/protobuf";
import { isFieldSet } from "@bufbuild/protobuf";
import {
  type BytesRules,
  BytesRulesSchema,
  type DoubleRules,
  DoubleRulesSchema,
  type EnumRules,
  type FieldRules,
  type Int32Rules,
  Int32RulesSchema,
  type Int64Rules,
  Int64RulesSchema,
  type StringRules,
  StringRulesSchema,
  type UInt32Rules,
  UInt32RulesSchema,
} from "../../../gen/buf/validate/validate_pb.ts";
import { offeredNames, type Problems } from "../protojson/index.ts";
import { isEmail, isUri } from "./formats.ts";
import { compileRe2 } from "./pattern.ts";
import { describePattern } from "./pattern-text.ts";

/** Checks one value and reports its violations. */
export type Check = (value: unknown, problems: Problems) => void;

/** Creates the checks of a scalar or an enum from its rules; throws if the rules are for another type. */
export function scalarChecks(rules: FieldRules, type: string, descEnum: DescEnum | undefined): Check[] {
  const { case: kind, value } = rules.type;
  if (kind === undefined) return [];
  if (kind !== type) throw new Error(`has ${kind} rules but is ${type}`);
  switch (kind) {
    case "string":
      return stringChecks(value);
    case "bytes":
      return bytesChecks(value);
    case "enum":
      return enumChecks(value, descEnum!);
    case "double":
      return doubleChecks(value);
    case "int32":
      return boundChecks("int32", int32Bounds(value));
    case "uint32":
      return boundChecks("uint32", uint32Bounds(value));
    case "int64":
      return boundChecks("int64", int64Bounds(value));
    default:
      return [];
  }
}

function stringChecks(rules: StringRules): Check[] {
  const { field } = StringRulesSchema;
  const checks: Check[] = [];
  if (isFieldSet(rules, field.minLen)) checks.push(minLength(Number(rules.minLen)));
  if (isFieldSet(rules, field.maxLen)) checks.push(maxLength(Number(rules.maxLen)));
  if (isFieldSet(rules, field.maxBytes)) {
    const max = Number(rules.maxBytes);
    checks.push(
      rule("string.max_bytes", `must be at most ${max} bytes`, (text: string) => byteLengthWithin(text, max)),
    );
  }
  if (isFieldSet(rules, field.pattern)) {
    const pattern = compileRe2(rules.pattern);
    checks.push(rule("string.pattern", describePattern(rules.pattern), (text: string) => pattern.test(text)));
  }
  if (rules.in.length > 0) {
    const allowed = new Set(rules.in);
    // An empty text means that the field is absent, so it is no choice to offer.
    const choices = rules.in.filter((value) => value !== "");
    const names = choices.map((value) => JSON.stringify(value)).join(", ");
    checks.push(rule("string.in", `must be one of ${names}`, (text: string) => allowed.has(text)));
  }
  const { case: format, value: wanted } = rules.wellKnown;
  if (format !== undefined && wanted) checks.push(formatCheck(format));
  return checks;
}

function rule<Value>(name: string, message: string, holds: (value: Value) => boolean): Check {
  return (value, problems) => {
    if (!holds(value as Value)) problems.add(name, message);
  };
}

// Lengths count code points. Their number is between half and all of the UTF-16 units, so most texts need no counting.
function minLength(min: number): Check {
  const message = min === 1 ? "must not be empty" : `must have at least ${min} characters`;
  return rule("string.min_len", message, (text: string) => {
    if (text.length < min) return false;
    return text.length >= 2 * min || codePoints(text) >= min;
  });
}

function maxLength(max: number): Check {
  return rule("string.max_len", `must have at most ${max} characters`, (text: string) => {
    if (text.length <= max) return true;
    return text.length <= 2 * max && codePoints(text) <= max;
  });
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function byteLengthWithin(text: string, max: number): boolean {
  // A UTF-16 unit takes one to three bytes in UTF-8.
  if (text.length * 3 <= max) return true;
  return text.length <= max && Buffer.byteLength(text) <= max;
}

function formatCheck(format: "email" | "uri"): Check {
  const holds = format === "email" ? isEmail : isUri;
  const wanted =
    format === "email"
      ? "an email address (for example: jane@example.com)"
      : "an absolute URI (for example: https://example.com/path)";
  return (value, problems) => {
    if (value === "") problems.add(`string.${format}_empty`, `must be ${wanted}, not empty`);
    else if (!holds(value as string)) problems.add(`string.${format}`, `must be ${wanted}`);
  };
}

function bytesChecks(rules: BytesRules): Check[] {
  const { field } = BytesRulesSchema;
  const checks: Check[] = [];
  if (isFieldSet(rules, field.minLen)) {
    const min = Number(rules.minLen);
    checks.push(rule("bytes.min_len", `must have at least ${min} bytes`, (bytes: Uint8Array) => bytes.length >= min));
  }
  if (isFieldSet(rules, field.maxLen)) {
    const max = Number(rules.maxLen);
    checks.push(rule("bytes.max_len", `must have at most ${max} bytes`, (bytes: Uint8Array) => bytes.length <= max));
  }
  return checks;
}

function enumChecks(rules: EnumRules, desc: DescEnum): Check[] {
  const checks: Check[] = [];
  if (rules.definedOnly) {
    const message = `must be one of ${offeredNames(desc).join(", ")}`;
    checks.push(rule("enum.defined_only", message, (number: number) => desc.value[number] !== undefined));
  }
  if (rules.notIn.length > 0) {
    const refused = new Set(rules.notIn);
    const names = rules.notIn.map((number) => desc.value[number]?.name ?? String(number));
    checks.push(rule("enum.not_in", `must not be ${names.join(" or ")}`, (number: number) => !refused.has(number)));
  }
  return checks;
}

/** The bounds of a number. */
interface Bounds {
  readonly gt?: number | bigint | undefined;
  readonly gte?: number | bigint | undefined;
  readonly lte?: number | bigint | undefined;
}

function int32Bounds(rules: Int32Rules): Bounds {
  const { gte, lte } = Int32RulesSchema.field;
  return { gte: isFieldSet(rules, gte) ? rules.gte : undefined, lte: isFieldSet(rules, lte) ? rules.lte : undefined };
}

function uint32Bounds(rules: UInt32Rules): Bounds {
  const { gte, lte } = UInt32RulesSchema.field;
  return { gte: isFieldSet(rules, gte) ? rules.gte : undefined, lte: isFieldSet(rules, lte) ? rules.lte : undefined };
}

function int64Bounds(rules: Int64Rules): Bounds {
  const { gte, lte } = Int64RulesSchema.field;
  return { gte: isFieldSet(rules, gte) ? rules.gte : undefined, lte: isFieldSet(rules, lte) ? rules.lte : undefined };
}

function doubleChecks(rules: DoubleRules): Check[] {
  const { gt, gte, lte } = DoubleRulesSchema.field;
  if (isFieldSet(rules, gt) && isFieldSet(rules, gte)) throw new Error("has both gt and gte");
  const checks = boundChecks("double", {
    gt: isFieldSet(rules, gt) ? rules.gt : undefined,
    gte: isFieldSet(rules, gte) ? rules.gte : undefined,
    lte: isFieldSet(rules, lte) ? rules.lte : undefined,
  });
  if (rules.finite) checks.push(rule("double.finite", "must be a finite number", Number.isFinite));
  return checks;
}

/** Creates one check for both bounds, with protovalidate's name for the combination. */
function boundChecks(type: string, { gt, gte, lte }: Bounds): Check[] {
  const low = gt ?? gte;
  if (low === undefined && lte === undefined) return [];
  if (low !== undefined && lte !== undefined && lte < low) throw new Error("has an upper bound below the lower one");
  const words = [
    gt === undefined ? undefined : `greater than ${gt}`,
    gte === undefined ? undefined : `at least ${gte}`,
    lte === undefined ? undefined : `at most ${lte}`,
  ];
  const names = [
    gt === undefined ? undefined : "gt",
    gte === undefined ? undefined : "gte",
    lte === undefined ? undefined : "lte",
  ];
  const message = `must be ${words.filter((word) => word !== undefined).join(" and ")}`;
  const name = `${type}.${names.filter((each) => each !== undefined).join("_")}`;
  // The comparisons are written so that NaN fails.
  return [
    rule(name, message, (value: number | bigint) => {
      if (gt !== undefined && !(value > gt)) return false;
      if (gte !== undefined && !(value >= gte)) return false;
      return lte === undefined || value <= lte;
    }),
  ];
}
