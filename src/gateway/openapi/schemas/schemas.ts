import type { DescEnum, DescField, DescMessage, DescOneof } from "@bufbuild/protobuf";
import { getOption, hasOption } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { oneof as oneofRules } from "../../../../gen/buf/validate/validate_pb.ts";
import { commentOf } from "../../../definitions/comments.ts";
import { isObserved, type RenamedField, type UpdatedRecord } from "../../../definitions/index.ts";
import type { Schema } from "../document.ts";
import type { Components } from "./components.ts";
import { isRequired, type Rules, readRules, sizeKeywords, toConstraints } from "./rules.ts";
import { scalarSchema, wellKnownSchema } from "./well-known.ts";

/** Whether a message is in a request or in a response. Its required and allowed fields differ. */
export type Direction = "request" | "response";

/** The message schemas of a document. */
export type Schemas = ReturnType<typeof createSchemas>;

/** Whether only the service sets a field, such as a record's id and timestamps. */
export function isReadOnly(field: DescField): boolean {
  const names = new Set(field.parent.fields.map(({ name }) => name));
  const ofRecord = names.has("id") && names.has("created_at");
  return ofRecord && /^(id|tenant_id|created_at|updated_at|record_version)$/.test(field.name);
}

/** Creates the schemas. `responseMessages` are the names of all messages in responses. */
export function createSchemas(components: Components, responseMessages: ReadonlySet<string>) {
  const owners = new Map<string, string>();

  function claim(name: string, owner: string): string {
    const known = owners.get(name) ?? owner;
    if (known !== owner) throw new Error(`${owner} and ${known} have the same schema name ${name}`);
    owners.set(name, owner);
    return name;
  }

  /** Returns a reference to a message's schema. */
  function ofMessage(message: DescMessage, direction: Direction): Schema {
    const known = wellKnownSchema(message);
    if (known !== undefined) return known;
    // A message in both directions has two schemas: a request refuses unknown fields, a response allows them.
    const both = direction === "request" && responseMessages.has(message.typeName);
    const name = claim(`${plainName(message)}${both ? "Input" : ""}`, `${message.typeName} ${direction}`);
    return components.ref("schemas", name, () => objectSchema(message, direction, new Set())) as Schema;
  }

  /**
   * Returns a reference to the schema of a request body: the message without its path and query fields. The body of an update
   * also has the other fields of the record, so that a caller can send back what it read.
   */
  function ofBody(message: DescMessage, omitted: ReadonlySet<string>, updated?: UpdatedRecord): Schema {
    const own = [...omitted].filter((name) => message.fields.some((field) => field.name === name)).sort();
    if (own.length === 0 && updated === undefined) return ofMessage(message, "request");
    const owner = `${message.typeName} without ${own.join()}`;
    // Bindings with different path variables have different bodies of the same message.
    let name = plainName(message);
    for (let n = 2; (owners.get(name) ?? owner) !== owner; n++) name = `${plainName(message)}${n}`;
    claim(name, owner);
    return components.ref("schemas", name, () => {
      const schema = objectSchema(message, "request", omitted);
      if (updated !== undefined) schema.properties = { ...schema.properties, ...returnedFields(updated, omitted) };
      return schema;
    }) as Schema;
  }

  /** The fields of a record that an update accepts besides its own. */
  function returnedFields({ type, readOnly, renamed }: UpdatedRecord, omitted: ReadonlySet<string>) {
    const fields = type.fields.filter(({ name }) => readOnly.has(name) || omitted.has(name));
    return Object.fromEntries(fields.map((field) => [field.name, returnedField(field, renamed.get(field.name))]));
  }

  function returnedField(field: DescField, renamed: RenamedField | undefined): Schema {
    const { description = "", ...shape } = ofField(field, "response");
    const note =
      renamed === undefined
        ? isObserved(field)
          ? "The service ignores it in a request."
          : "In a request it must be unchanged."
        : `Another way to write \`${renamed.request.name}\`.`;
    const text = `${description} ${note}`.trim();
    return { ...shape, description: text, ...(renamed === undefined && { readOnly: true }) };
  }

  function objectSchema(message: DescMessage, direction: Direction, omitted: ReadonlySet<string>): Schema {
    const fields = message.fields.filter((field) => !omitted.has(field.name));
    const required = fields.filter((field) => (direction === "request" ? isRequired(field) : isAlwaysSent(field)));
    const schema: Schema = { type: "object", description: commentOf(message) };
    if (fields.length > 0) {
      schema.properties = Object.fromEntries(fields.map((field) => [field.name, ofField(field, direction)]));
    }
    if (required.length > 0) schema.required = required.map(({ name }) => name);
    if (direction === "request") Object.assign(schema, { additionalProperties: false }, exactlyOne(message.oneofs));
    return schema;
  }

  /** Returns the schema of a field, with its rules and its description. */
  function ofField(field: DescField, direction: Direction): Schema {
    const description = [commentOf(field), atMostOneNote(field)].filter((text) => text !== "").join(" ");
    const schema: Schema = { ...shapeOf(field, direction), ...(description === "" ? {} : { description }) };
    if (isReadOnly(field)) schema.readOnly = true;
    if (field.proto.options?.debugRedact && direction === "request") {
      schema.writeOnly = true;
      if (schema.type === "string") schema.format = "password";
    }
    return schema;
  }

  function shapeOf(field: DescField, direction: Direction): Schema {
    const rules = direction === "request" ? readRules(field) : {};
    switch (field.fieldKind) {
      case "list":
        return {
          type: "array",
          items: valueSchema(field, field.listKind, rules.repeated?.items ?? {}, direction, false),
          ...sizeKeywords(rules),
        };
      case "map": {
        const keys = toConstraints(rules.map?.keys ?? {}, false);
        return {
          type: "object",
          additionalProperties: valueSchema(field, field.mapKind, rules.map?.values ?? {}, direction, false),
          ...(Object.keys(keys).length > 0 ? { propertyNames: keys } : {}),
          ...sizeKeywords(rules),
        };
      }
      default: {
        const implicit = field.presence === FeatureSet_FieldPresence.IMPLICIT;
        return valueSchema(field, field.fieldKind, rules, direction, implicit);
      }
    }
  }

  function valueSchema(
    field: DescField,
    kind: "scalar" | "enum" | "message",
    rules: Rules,
    direction: Direction,
    implicit: boolean,
  ): Schema {
    if (kind === "message") return ofMessage(field.message!, direction);
    if (kind === "enum") return enumSchema(field.enum!, rules);
    return { ...scalarSchema(field.scalar!), ...toConstraints(rules, implicit) };
  }

  function enumSchema(desc: DescEnum, rules: Rules): Schema {
    const refused = new Set([...(rules.enum?.not_in ?? []), ...(rules.required ? [0] : [])]);
    if (refused.size > 0) {
      return { type: "string", enum: desc.values.filter((v) => !refused.has(v.number)).map((v) => v.name) };
    }
    const lines = desc.values.map((value) => `- \`${value.name}\`: ${commentOf(value)}`);
    return components.ref("schemas", claim(plainName(desc), desc.typeName), () => ({
      type: "string",
      description: `${commentOf(desc)}\n\n${lines.join("\n")}`,
      enum: desc.values.map(({ name }) => name),
    })) as Schema;
  }

  return { ofMessage, ofBody, ofField };
}

/** Collects the names of the messages and of all messages that they refer to. */
export function collectReachable(messages: Iterable<DescMessage>): Set<string> {
  const reached = new Set<string>();
  const visit = (message: DescMessage) => {
    if (reached.has(message.typeName)) return;
    reached.add(message.typeName);
    for (const field of message.fields) if (field.message !== undefined) visit(field.message);
  };
  for (const message of messages) visit(message);
  return reached;
}

/** Responses contain every field without presence, including default values. */
export function isAlwaysSent(field: DescField): boolean {
  return (
    field.fieldKind === "list" || field.fieldKind === "map" || field.presence === FeatureSet_FieldPresence.IMPLICIT
  );
}

function exactlyOne(oneofs: readonly DescOneof[]): Schema {
  const all = oneofs
    .filter((oneof) => hasOption(oneof, oneofRules) && getOption(oneof, oneofRules).required && oneof.fields.length > 1)
    .map((oneof) => ({ oneOf: oneof.fields.map(({ name }) => ({ required: [name] })) }));
  return all.length > 1 ? { allOf: all } : (all[0] ?? {});
}

function atMostOneNote(field: DescField): string {
  if (field.oneof === undefined) return "";
  return `At most one of ${field.oneof.fields.map(({ name }) => `\`${name}\``).join(", ")} is set.`;
}

function plainName(desc: DescMessage | DescEnum): string {
  return desc.typeName
    .slice(desc.file.proto.package.length + 1)
    .split(".")
    .join("");
}
