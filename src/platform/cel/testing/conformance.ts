import type { Value as SpecValue } from "@bufbuild/cel-spec/cel/expr/value_pb.js";
import { getConformanceSuite, type IncrementalTestSuite } from "@bufbuild/cel-spec/testdata/tests.js";
import { createRegistry } from "@bufbuild/protobuf";
import {
  type Any,
  anyUnpack,
  DurationSchema,
  type Duration as SpecDuration,
  TimestampSchema,
} from "@bufbuild/protobuf/wkt";
import { CelError } from "../cel-error.ts";
import type { CelType } from "../cel-type.ts";
import { PlannedExpression } from "../expression.ts";
import {
  Duration,
  fromData,
  Internal,
  ListValue,
  type MapKey,
  MapValue,
  Optional,
  Timestamp,
  TypeValue,
  type Value,
} from "../values/values.ts";

/** A test case of the official conformance suite. */
export interface ConformanceCase {
  readonly section: string;
  readonly name: string;
  readonly test: IncrementalTestSuite["tests"][number]["original"];
}

/** The result of a test case; `outside` if it is about a part of CEL that this engine does not support. */
export type Outcome = { readonly kind: "conforms" | "outside" } | { readonly kind: "deviates"; readonly found: string };

/** All test cases of the supported sections. */
export function conformanceCases(claimed: (section: string) => boolean): readonly ConformanceCase[] {
  const walk = (suite: IncrementalTestSuite, section: string): ConformanceCase[] => [
    ...suite.tests.map(({ original, name }) => ({ section, name, test: original })),
    ...suite.suites.flatMap((inner) => walk(inner, section === "" ? inner.name : `${section}/${inner.name}`)),
  ];
  return walk({ ...getConformanceSuite(), name: "" }, "").filter(({ section }) => claimed(section));
}

class UnsupportedCase extends Error {}

// uint, bytes, messages and enums have no JSON form and are not supported.
const UNSUPPORTED =
  /\b\d+[uU]\b|\buint\b|\bbytes\b|\b[rR]?[bB][rR]?['"]|TestAllTypes|NestedTest|google\.protobuf\.(?!(?:Timestamp|Duration)\b(?!\{))/;

export function runCase({ test }: ConformanceCase): Outcome {
  try {
    if (UNSUPPORTED.test(test.expr)) throw new UnsupportedCase();
    const expected = expectedOf(test);
    const found = evaluateCase(test);
    return found === expected ? { kind: "conforms" } : { kind: "deviates", found };
  } catch (error) {
    if (error instanceof UnsupportedCase) return { kind: "outside" };
    throw error;
  }
}

const FAILS = "error";

function expectedOf(test: ConformanceCase["test"]): string {
  switch (test.resultMatcher.case) {
    case "evalError":
      return FAILS;
    case "value":
      return format(readValue(test.resultMatcher.value));
    case undefined:
      return format(true);
    default:
      throw new UnsupportedCase();
  }
}

function evaluateCase(test: ConformanceCase["test"]): string {
  const { variables, values } = bindingsOf(test);
  try {
    return format(new PlannedExpression(test.expr, variables).evaluateTyped(values));
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    // The suite runs some cases without a type check, which this engine does not support.
    if (test.disableCheck && error.kind === "type") throw new UnsupportedCase();
    return error.kind === "evaluation" || test.resultMatcher.case === "evalError"
      ? FAILS
      : `${error.kind}: ${error.message}`;
  }
}

function bindingsOf(test: ConformanceCase["test"]) {
  const variables: Record<string, CelType> = {};
  const values: Record<string, unknown> = {};
  for (const declaration of test.typeEnv) {
    if (declaration.declKind.case !== "ident") throw new UnsupportedCase();
    variables[declaration.name] = "any";
  }
  for (const [name, binding] of Object.entries(test.bindings)) {
    if (binding.kind.case !== "value") throw new UnsupportedCase();
    const value = readValue(binding.kind.value);
    variables[name] = typeof value === "number" ? "double" : "any";
    values[name] = dataOf(value);
  }
  return { variables, values };
}

function readValue({ kind }: SpecValue): Value {
  switch (kind.case) {
    case "nullValue":
      return null;
    case "boolValue":
    case "int64Value":
    case "doubleValue":
    case "stringValue":
      return kind.value;
    case "listValue":
      return new ListValue(kind.value.values.map(readValue));
    case "mapValue":
      return new MapValue(
        new Map(kind.value.entries.map(({ key, value }) => [readValue(key!) as MapKey, readValue(value!)])),
      );
    case "typeValue":
      return new TypeValue(kind.value);
    case "objectValue":
      return timeOf(kind.value);
    default:
      throw new UnsupportedCase();
  }
}

function timeOf(message: Any): Value {
  const time = anyUnpack(message, createRegistry(TimestampSchema, DurationSchema)) as SpecDuration | undefined;
  if (time === undefined) throw new UnsupportedCase();
  const ns = time.seconds * 1_000_000_000n + BigInt(time.nanos);
  return message.typeUrl.endsWith("Timestamp") ? new Timestamp(ns) : new Duration(ns);
}

function dataOf(value: Value): unknown {
  if (value instanceof ListValue) return value.items.map(dataOf);
  if (value instanceof MapValue)
    return Object.fromEntries([...value.entries].map(([key, item]) => [key, dataOf(item)]));
  if (value instanceof Timestamp) return new Date(Number(value.ns / 1_000_000n));
  if (value instanceof Internal) throw new UnsupportedCase();
  return value;
}

/** Formats a value with its type, so that an int differs from the equal double. */
function format(value: Value): string {
  if (value instanceof ListValue) return `[${value.items.map(format).join(", ")}]`;
  if (value instanceof MapValue) return formatEntries([...value.entries]);
  if (value instanceof Timestamp) return `timestamp ${value.ns}`;
  if (value instanceof Duration) return `duration ${value.ns}`;
  if (value instanceof TypeValue) return `type ${value.name}`;
  if (value instanceof Optional) return `optional ${value.value === undefined ? "" : format(value.value)}`;
  if (Array.isArray(value)) return format(new ListValue(value.map((item) => fromData(item) ?? null)));
  if (typeof value === "object" && value !== null)
    return formatEntries(Object.entries(value).map(([key, item]) => [key, fromData(item) ?? null]));
  return `${typeof value} ${value}`;
}

function formatEntries(entries: readonly (readonly [MapKey, Value])[]): string {
  return `{${entries
    .map(([key, item]) => `${typeof key} ${key}: ${format(item)}`)
    .sort()
    .join(", ")}}`;
}
