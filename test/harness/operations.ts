import { type DescField, getOption, hasOption, ScalarType } from "@bufbuild/protobuf";
import {
  type FieldRules,
  field as fieldOption,
  Ignore,
  oneof as oneofOption,
} from "../../gen/buf/validate/validate_pb.ts";
import { type Operation, readOperations } from "../../src/definitions/index.ts";

/** A request as JSON, with the field names of the definition. */
export type Json = Record<string, unknown>;

/** Every operation of the definitions. */
export const operations: readonly Operation[] = readOperations();

/** The rules of a field; undefined when it has none. */
export function rulesOf(field: DescField): FieldRules | undefined {
  return hasOption(field, fieldOption) ? getOption(field, fieldOption) : undefined;
}

/** The fields of an operation's request that name a record. */
export function idFields({ method }: Operation): DescField[] {
  return method.input.fields.filter(
    // OAuth clients and accounts are records of the provider.
    ({ name, scalar }) => scalar === ScalarType.STRING && /(^|_)id$/.test(name) && !/^(client|account)_id$/.test(name),
  );
}

/**
 * The operation that creates the records which an id field names: it posts to the collection before the id in the path.
 */
export function creatorOf({ id, bindings }: Operation, { name }: DescField): Operation {
  const collections = bindings.flatMap(({ path }) => path.split(`/{${name}}`).slice(0, 1));
  const found = operations.find(
    (each) =>
      each.governance.mutating && each.bindings.some(({ verb, path }) => verb === "POST" && collections.includes(path)),
  );
  if (found === undefined)
    throw new Error(`${id}: no operation creates the record that ${name} names; provide one in the fixtures`);
  return found;
}

/** The smallest request that satisfies the rules of its definition; ids and values without a rule come from `given`. */
export function validRequest({ id, method }: Operation, given: Json): Json {
  const request: Json = { ...given };
  for (const field of method.input.fields) {
    if (field.name in request || !isNeeded(field)) continue;
    request[field.name] = valueFor(field, () => new Error(`${id}: no valid value is known for ${field.name}`));
  }
  return request;
}

/** A word that is unique in this process. */
export function freshWord(): string {
  return `w${process.pid.toString(36)}${(serial++).toString(36)}`;
}

let serial = 0;

/** Whether omitting a field violates a rule. */
function isNeeded(field: DescField): boolean {
  const rules = rulesOf(field);
  if (field.oneof !== undefined) {
    return (
      field.oneof.fields[0] === field &&
      hasOption(field.oneof, oneofOption) &&
      getOption(field.oneof, oneofOption).required
    );
  }
  if (rules === undefined || rules.ignore !== Ignore.UNSPECIFIED) return false;
  if (rules.required) return true;
  if (field.proto.proto3Optional) return false;
  const { type } = rules;
  switch (type.case) {
    case "string":
      return !fits(type.value, "");
    case "enum":
      return type.value.notIn.includes(0);
    case "repeated":
      return type.value.minItems > 0n;
    case "map":
      return type.value.minPairs > 0n;
    default:
      return false;
  }
}

function valueFor(field: DescField, unknown: () => Error): unknown {
  const rules = rulesOf(field);
  if (field.enum !== undefined) {
    const refused = rules?.type.case === "enum" ? rules.type.value.notIn : [];
    return field.enum.values.find(({ number }) => number !== 0 && !refused.includes(number))?.name;
  }
  if (field.fieldKind === "scalar" && field.scalar === ScalarType.STRING) {
    const word = freshWord();
    const candidates = [word, `${word}.made`, `${word}:read`, `${word}@example.com`, ...choicesOf(rules)];
    const value = candidates.find((candidate) => rules?.type.case !== "string" || fits(rules.type.value, candidate));
    if (value !== undefined) return value;
  }
  throw unknown();
}

function choicesOf(rules: FieldRules | undefined): string[] {
  return rules?.type.case === "string" ? rules.type.value.in : [];
}

function fits(rules: Extract<FieldRules["type"], { case: "string" }>["value"], text: string): boolean {
  if (BigInt(text.length) < rules.minLen) return false;
  if (rules.maxLen > 0n && BigInt(text.length) > rules.maxLen) return false;
  if (rules.pattern !== "" && !new RegExp(rules.pattern).test(text)) return false;
  if (rules.in.length > 0 && !rules.in.includes(text)) return false;
  return rules.wellKnown.case !== "email" || /^[^@]+@[^@]+\.[a-z]+$/.test(text);
}
