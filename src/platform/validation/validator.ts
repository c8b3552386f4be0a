import {
  type DescField,
  type DescMessage,
  type DescOneof,
  getOption,
  hasOption,
  isFieldSet,
  isMessage,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence, isWrapperDesc } from "@bufbuild/protobuf/wkt";
import {
  type FieldRules,
  field as fieldOption,
  Ignore,
  type MapRules,
  MapRulesSchema,
  oneof as oneofOption,
  type RepeatedRules,
  RepeatedRulesSchema,
} from "../../../gen/buf/validate/validate_pb.ts";
import type { Violation } from "../../errors/index.ts";
import { keySegment, Problems } from "../protojson/index.ts";
import { type Check, scalarChecks } from "./scalar-rules.ts";

type Slots = Message & Record<string, unknown>;

const compiled = new WeakMap<DescMessage, Check>();
const messageOptionNumber = 1159;

/**
 * Creates the function that checks messages of a type against the rules of its definition. It is compiled once per type.
 *
 * Throws if a definition contains an unsupported rule. A message type without rules is not inspected at all.
 */
export function createValidator(desc: DescMessage): (message: Message) => Violation[] {
  if (!hasRules(desc, new Set())) return () => [];
  const check = messageCheck(desc);
  return (message) => {
    const problems = new Problems();
    check(message, problems);
    return problems.violations;
  };
}

/** Whether a message type, or any type that it can contain, has a rule. */
function hasRules(desc: DescMessage, seen: Set<DescMessage>): boolean {
  if (seen.has(desc)) return false;
  seen.add(desc);
  if (desc.proto.options?.$unknown?.some(({ no }) => no === messageOptionNumber)) {
    throw new Error(`${desc.typeName} has rules for the whole message, which are not supported`);
  }
  return (
    desc.oneofs.some((oneof) => hasOption(oneof, oneofOption)) ||
    desc.fields.some((field) => hasOption(field, fieldOption)) ||
    desc.fields.some((field) => field.message !== undefined && hasRules(field.message, seen))
  );
}

function messageCheck(desc: DescMessage): Check {
  const known = compiled.get(desc);
  if (known !== undefined) return known;
  const checks: Check[] = [];
  const check = all(checks);
  // Registered before its fields are compiled, so that a type may contain itself.
  compiled.set(desc, check);
  try {
    for (const field of desc.fields)
      checks.push(...withDefinition(`${desc.typeName}.${field.name}`, () => fieldChecks(field)));
    for (const oneof of desc.oneofs)
      checks.push(...withDefinition(`${desc.typeName}.${oneof.name}`, () => oneofChecks(oneof)));
  } catch (cause) {
    compiled.delete(desc);
    throw cause;
  }
  return check;
}

function all(checks: readonly Check[]): Check {
  return (value, problems) => {
    for (let i = 0; i < checks.length; i++) checks[i]!(value, problems);
  };
}

/** Adds the name of the definition to an error. */
function withDefinition<Result>(place: string, compile: () => Result): Result {
  try {
    return compile();
  } catch (cause) {
    throw new Error(`${place}: ${(cause as Error).message}`, { cause });
  }
}

function oneofChecks(oneof: DescOneof): Check[] {
  if (!hasOption(oneof, oneofOption)) return [];
  const rules = getOption(oneof, oneofOption);
  rejectUnknownRules(rules);
  if (!rules.required) return [];
  const { localName, name } = oneof;
  return [
    (message, problems) => {
      const slot = (message as Slots)[localName] as { case: string | undefined };
      if (slot.case === undefined) problems.add("required", "exactly one of its fields is required", name);
    },
  ];
}

function fieldChecks(field: DescField): Check[] {
  const rules = hasOption(field, fieldOption) ? getOption(field, fieldOption) : undefined;
  if (rules !== undefined) rejectUnknownRules(rules);
  if (rules?.ignore === Ignore.ALWAYS) return [];
  const checks = memberChecks(field, rules);
  const required = rules?.required ?? false;
  if (checks.length === 0 && !required) return [];

  const hasPresence = field.presence !== FeatureSet_FieldPresence.IMPLICIT;
  const onlyWhenSet = required || hasPresence || rules?.ignore === Ignore.IF_ZERO_VALUE;
  const check = all(checks);
  const { name, localName } = field;
  const oneofName = field.oneof?.localName;
  return [
    (message, problems) => {
      const slots = message as Slots;
      if (onlyWhenSet && !isFieldSet(slots, field)) {
        if (required) problems.add("required", "is required", name);
        return;
      }
      const before = problems.count;
      check(oneofName === undefined ? slots[localName] : (slots[oneofName] as { value: unknown }).value, problems);
      if (problems.count !== before) problems.under(name, before);
    },
  ];
}

function memberChecks(field: DescField, rules: FieldRules | undefined): Check[] {
  const kind = rules?.type.case;
  if (field.fieldKind === "list") {
    if (kind !== undefined && kind !== "repeated") throw new Error(`has ${kind} rules but is a list`);
    return listChecks(field, kind === undefined ? undefined : (rules!.type.value as RepeatedRules));
  }
  if (field.fieldKind === "map") {
    if (kind !== undefined && kind !== "map") throw new Error(`has ${kind} rules but is a map`);
    return mapChecks(field, kind === undefined ? undefined : (rules!.type.value as MapRules));
  }
  return valueChecks(field, rules);
}

/** Creates the checks of a single value; for a list or a map, those of one item. */
function valueChecks(field: DescField, rules: FieldRules | undefined): Check[] {
  if (field.enum !== undefined) return rules === undefined ? [] : scalarChecks(rules, "enum", field.enum);
  if (field.message === undefined) {
    return rules === undefined ? [] : scalarChecks(rules, typeNameOf(field.scalar), undefined);
  }
  const desc = field.message;
  if (isWrapperDesc(desc)) {
    if (rules === undefined) return [];
    const checks = scalarChecks(rules, typeNameOf(desc.fields[0].scalar), undefined);
    // A singular wrapper outside a oneof is represented by its bare value.
    if (field.fieldKind === "message" && field.oneof === undefined) return checks;
    return checks.map(
      (check): Check =>
        (wrapper, problems) =>
          check((wrapper as Slots).value, problems),
    );
  }
  if (rules?.type.case !== undefined) throw new Error(`has ${rules.type.case} rules but is ${desc.typeName}`);
  return hasRules(desc, new Set()) ? [messageCheck(desc)] : [];
}

function typeNameOf(scalar: ScalarType): string {
  return ScalarType[scalar].toLowerCase();
}

/** Creates the checks of an item, a key or a value, and applies the `ignore` of its rules. */
function itemChecks(rules: FieldRules | undefined, checksOf: () => Check[], isMessageItem: boolean): Check | undefined {
  if (rules?.required) throw new Error("has an item that is required, which has no effect");
  if (rules?.ignore === Ignore.ALWAYS) return undefined;
  const checks = checksOf();
  if (checks.length === 0) return undefined;
  const check = all(checks);
  if (rules?.ignore !== Ignore.IF_ZERO_VALUE || isMessageItem) return check;
  return (value, problems) => {
    if (!isZero(value)) check(value, problems);
  };
}

function isZero(value: unknown): boolean {
  if (value instanceof Uint8Array) return value.length === 0;
  return value === "" || value === 0 || value === 0n || value === false;
}

function listChecks(field: DescField & { fieldKind: "list" }, rules: RepeatedRules | undefined): Check[] {
  const checks: Check[] = [];
  if (rules !== undefined && isFieldSet(rules, RepeatedRulesSchema.field.minItems)) {
    const min = Number(rules.minItems);
    checks.push((items, problems) => {
      if ((items as unknown[]).length < min) problems.add("repeated.min_items", `must have at least ${min} items`);
    });
  }
  if (rules !== undefined && isFieldSet(rules, RepeatedRulesSchema.field.maxItems)) {
    const max = Number(rules.maxItems);
    checks.push((items, problems) => {
      if ((items as unknown[]).length > max) problems.add("repeated.max_items", `must have at most ${max} items`);
    });
  }
  if (rules?.unique) {
    if (field.listKind === "message") throw new Error("has unique items that are messages");
    checks.push((items, problems) => {
      if (!isUnique(items as unknown[])) problems.add("repeated.unique", "must not have the same item twice");
    });
  }
  const item = itemChecks(rules?.items, () => valueChecks(field, rules?.items), field.listKind === "message");
  if (item === undefined) return checks;
  checks.push((items, problems) => {
    for (let i = 0; i < (items as unknown[]).length; i++) {
      const before = problems.count;
      item((items as unknown[])[i], problems);
      if (problems.count !== before) problems.under(`[${i}]`, before);
    }
  });
  return checks;
}

function isUnique(items: readonly unknown[]): boolean {
  if (items.length < 2) return true;
  const seen = new Set<unknown>();
  for (const item of items) {
    // NaN does not equal NaN.
    if (Number.isNaN(item)) continue;
    const key = item instanceof Uint8Array ? Buffer.from(item).toString("latin1") : item;
    if (seen.has(key)) return false;
    seen.add(key);
  }
  return true;
}

function mapChecks(field: DescField & { fieldKind: "map" }, rules: MapRules | undefined): Check[] {
  const min = rules !== undefined && isFieldSet(rules, MapRulesSchema.field.minPairs) ? Number(rules.minPairs) : 0;
  const max =
    rules !== undefined && isFieldSet(rules, MapRulesSchema.field.maxPairs)
      ? Number(rules.maxPairs)
      : Number.POSITIVE_INFINITY;
  const quoted = field.mapKey === ScalarType.STRING;
  const keyRules = rules?.keys;
  const key = itemChecks(
    keyRules,
    () => (keyRules ? scalarChecks(keyRules, typeNameOf(field.mapKey), undefined) : []),
    false,
  );
  const value = itemChecks(rules?.values, () => valueChecks(field, rules?.values), field.mapKind === "message");
  if (key !== undefined && !quoted) throw new Error("has rules for keys that are not strings");
  if (min === 0 && max === Number.POSITIVE_INFINITY && key === undefined && value === undefined) return [];
  return [
    (map, problems) => {
      const entries = map as Record<string, unknown>;
      const keys = Object.keys(entries);
      if (keys.length < min) problems.add("map.min_pairs", `must have at least ${min} entries`);
      if (keys.length > max) problems.add("map.max_pairs", `must have at most ${max} entries`);
      for (const name of keys) {
        const before = problems.count;
        key?.(name, problems);
        value?.(entries[name], problems);
        if (problems.count !== before) problems.under(keySegment(name, quoted), before);
      }
    },
  ];
}

/** Throws if rules contain anything that this validator does not support, at any depth. */
function rejectUnknownRules(rules: Message): void {
  const [unknown] = rules.$unknown ?? [];
  if (unknown !== undefined)
    throw new Error(`has a rule that is not supported: ${rules.$typeName} field ${unknown.no}`);
  for (const value of Object.values(rules)) {
    if (isMessage(value)) rejectUnknownRules(value);
    else if (isOneofOfMessage(value)) rejectUnknownRules(value.value);
  }
  const { ignore } = rules as Partial<FieldRules>;
  if (ignore !== undefined && !Object.values(Ignore).includes(ignore))
    throw new Error(`has an unknown ignore: ${ignore}`);
}

function isOneofOfMessage(value: unknown): value is { readonly value: Message } {
  return typeof value === "object" && value !== null && "value" in value && isMessage(value.value);
}
