import { create, createFileRegistry, type DescMessage, type MessageInitShape, setExtension } from "@bufbuild/protobuf";
import { protoCamelCase } from "@bufbuild/protobuf/reflect";
import {
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
  FieldDescriptorProto_Label as Label,
  OneofOptionsSchema,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import {
  FieldRulesSchema,
  field as fieldOption,
  OneofRulesSchema,
  oneof as oneofOption,
} from "../../../../gen/buf/validate/validate_pb.ts";

/** Message definitions with rules, built at run time. */

type Rules = MessageInitShape<typeof FieldRulesSchema>;

export interface FieldDefinition {
  readonly name: string;
  readonly type: Type;
  readonly typeName?: string;
  readonly rules?: Rules;
  readonly many?: boolean;
  readonly optional?: boolean;
  /** Whether it belongs to the oneof `choice`. */
  readonly choice?: boolean;
  /** Whether it is a map from strings to its type. */
  readonly map?: boolean;
}

const dependencies = [file_google_protobuf_wrappers, file_google_protobuf_timestamp];

/** Creates the message type `test.Ruled` with the given fields; with `choiceRequired`, its oneof must be set. */
export function createRuledMessage(fields: readonly FieldDefinition[], choiceRequired = false): DescMessage {
  const choice = create(OneofOptionsSchema);
  if (choiceRequired) setExtension(choice, oneofOption, create(OneofRulesSchema, { required: true }));
  const optional = fields.filter((field) => field.optional);
  const maps = fields.filter((field) => field.map);
  const file = create(FileDescriptorProtoSchema, {
    name: "test/ruled.proto",
    package: "test",
    syntax: "proto3",
    dependency: dependencies.map((dependency) => dependency.proto.name),
    enumType: [{ name: "Colour", value: ["NONE", "RED", "BLUE"].map((name, number) => ({ name, number })) }],
    messageType: [
      {
        name: "Ruled",
        field: fields.map((field, i) => descriptorOf(field, i + 1, optional)),
        oneofDecl: [{ name: "choice", options: choice }, ...optional.map((field) => ({ name: `_${field.name}` }))],
        nestedType: maps.map((field) => ({
          name: `${field.name}_entry`,
          options: { mapEntry: true },
          field: [
            { name: "key", jsonName: "key", number: 1, label: Label.OPTIONAL, type: Type.STRING },
            {
              name: "value",
              jsonName: "value",
              number: 2,
              label: Label.OPTIONAL,
              type: field.type,
              typeName: field.typeName,
            },
          ],
        })),
      },
    ],
  });
  const registry = createFileRegistry(file, (name) =>
    dependencies.find((dependency) => dependency.proto.name === name),
  );
  return registry.getMessage("test.Ruled")!;
}

function descriptorOf(field: FieldDefinition, number: number, optional: readonly FieldDefinition[]) {
  const options = create(FieldOptionsSchema);
  if (field.rules !== undefined) setExtension(options, fieldOption, create(FieldRulesSchema, field.rules));
  return {
    name: field.name,
    jsonName: protoCamelCase(field.name),
    number,
    label: field.many || field.map ? Label.REPEATED : Label.OPTIONAL,
    type: field.map ? Type.MESSAGE : field.type,
    typeName: field.map ? `.test.Ruled.${field.name}_entry` : field.typeName,
    options,
    proto3Optional: field.optional,
    oneofIndex: field.choice ? 0 : field.optional ? optional.indexOf(field) + 1 : undefined,
  };
}

const shortText: Rules = { type: { case: "string", value: { minLen: 2n, maxLen: 4n } } };
const smallInt: Rules = { type: { case: "int32", value: { gte: -5, lte: 5 } } };

/** A definition that uses every rule on every kind of field. */
export function everyRule(): DescMessage {
  return createRuledMessage(
    [
      { name: "text", type: Type.STRING, rules: shortText },
      { name: "text_required", type: Type.STRING, rules: { ...shortText, required: true } },
      { name: "text_if_given", type: Type.STRING, rules: { ...shortText, ignore: 1 } },
      { name: "text_never", type: Type.STRING, rules: { ...shortText, ignore: 3, required: true } },
      { name: "text_optional", type: Type.STRING, rules: shortText, optional: true },
      { name: "text_optional_required", type: Type.STRING, rules: { required: true }, optional: true },
      { name: "text_wrapped", type: Type.MESSAGE, typeName: ".google.protobuf.StringValue", rules: shortText },
      { name: "text_bytes", type: Type.STRING, rules: { type: { case: "string", value: { maxBytes: 6n } } } },
      {
        name: "text_pattern",
        type: Type.STRING,
        rules: { type: { case: "string", value: { pattern: "^a.\\s?[b-d]*$" } } },
      },
      { name: "text_in", type: Type.STRING, rules: { type: { case: "string", value: { in: ["a", "b", "", "\\"] } } } },
      {
        name: "email",
        type: Type.STRING,
        rules: { type: { case: "string", value: { wellKnown: { case: "email", value: true } } } },
      },
      {
        name: "uri",
        type: Type.STRING,
        rules: { type: { case: "string", value: { wellKnown: { case: "uri", value: true } } } },
      },
      {
        name: "no_uri",
        type: Type.STRING,
        rules: { type: { case: "string", value: { wellKnown: { case: "uri", value: false } } } },
      },
      { name: "blob", type: Type.BYTES, rules: { type: { case: "bytes", value: { minLen: 2n, maxLen: 4n } } } },
      {
        name: "colour",
        type: Type.ENUM,
        typeName: ".test.Colour",
        rules: { type: { case: "enum", value: { definedOnly: true, notIn: [2] } } },
      },
      { name: "number", type: Type.INT32, rules: smallInt },
      { name: "number_low", type: Type.INT32, rules: { type: { case: "int32", value: { gte: 0 } } } },
      { name: "unsigned", type: Type.UINT32, rules: { type: { case: "uint32", value: { lte: 3 } } } },
      { name: "long", type: Type.INT64, rules: { type: { case: "int64", value: { gte: 0n, lte: 5n } } } },
      { name: "ratio", type: Type.DOUBLE, rules: { type: { case: "double", value: { gt: 0, lte: 1, finite: true } } } },
      { name: "ratio_least", type: Type.DOUBLE, rules: { type: { case: "double", value: { gte: 0 } } } },
      { name: "number_wrapped", type: Type.MESSAGE, typeName: ".google.protobuf.Int32Value", rules: smallInt },
      { name: "when", type: Type.MESSAGE, typeName: ".google.protobuf.Timestamp", rules: { required: true } },
      { name: "self", type: Type.MESSAGE, typeName: ".test.Ruled" },
      { name: "selves", type: Type.MESSAGE, typeName: ".test.Ruled", many: true },
      { name: "choice_text", type: Type.STRING, rules: shortText, choice: true },
      {
        name: "choice_wrapped",
        type: Type.MESSAGE,
        typeName: ".google.protobuf.StringValue",
        rules: shortText,
        choice: true,
      },
      { name: "choice_self", type: Type.MESSAGE, typeName: ".test.Ruled", choice: true },
      {
        name: "texts",
        type: Type.STRING,
        many: true,
        rules: { type: { case: "repeated", value: { minItems: 1n, maxItems: 2n, unique: true, items: shortText } } },
      },
      { name: "texts_required", type: Type.STRING, many: true, rules: { required: true } },
      {
        name: "texts_if_given",
        type: Type.STRING,
        many: true,
        rules: { ignore: 1, type: { case: "repeated", value: { minItems: 2n } } },
      },
      {
        name: "texts_lax",
        type: Type.STRING,
        many: true,
        rules: { type: { case: "repeated", value: { items: { ...shortText, ignore: 1 } } } },
      },
      { name: "blobs", type: Type.BYTES, many: true, rules: { type: { case: "repeated", value: { unique: true } } } },
      { name: "ratios", type: Type.DOUBLE, many: true, rules: { type: { case: "repeated", value: { unique: true } } } },
      {
        name: "wrapped_many",
        type: Type.MESSAGE,
        typeName: ".google.protobuf.StringValue",
        many: true,
        rules: { type: { case: "repeated", value: { items: shortText } } },
      },
      {
        name: "selves_never",
        type: Type.MESSAGE,
        typeName: ".test.Ruled",
        many: true,
        rules: { type: { case: "repeated", value: { items: { ignore: 3 } } } },
      },
      {
        name: "by_name",
        type: Type.STRING,
        map: true,
        rules: { type: { case: "map", value: { minPairs: 1n, maxPairs: 2n, keys: shortText, values: shortText } } },
      },
      { name: "selves_by_name", type: Type.MESSAGE, typeName: ".test.Ruled", map: true },
      {
        name: "colours_by_name",
        type: Type.ENUM,
        typeName: ".test.Colour",
        map: true,
        rules: { type: { case: "map", value: { values: { type: { case: "enum", value: { definedOnly: true } } } } } },
      },
    ],
    true,
  );
}
