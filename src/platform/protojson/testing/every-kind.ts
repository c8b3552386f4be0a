import { create, createFileRegistry, type DescFile, type DescMessage } from "@bufbuild/protobuf";
import { protoCamelCase } from "@bufbuild/protobuf/reflect";
import {
  FileDescriptorProtoSchema,
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";

/**
 * `test.EveryKind`: a message type with every kind of field. It is built here, because the API does not use most kinds.
 */

const scalars = [
  "double",
  "float",
  "int64",
  "uint64",
  "int32",
  "fixed64",
  "fixed32",
  "bool",
  "string",
  "bytes",
  "uint32",
  "sfixed32",
  "sfixed64",
  "sint32",
  "sint64",
] as const;
const keyScalars = scalars.filter((name) => !["double", "float", "bytes"].includes(name));
const messages = {
  timestamp: ".google.protobuf.Timestamp",
  duration: ".google.protobuf.Duration",
  field_mask: ".google.protobuf.FieldMask",
  struct: ".google.protobuf.Struct",
  value: ".google.protobuf.Value",
  list_value: ".google.protobuf.ListValue",
  empty: ".google.protobuf.Empty",
  string_value: ".google.protobuf.StringValue",
  int64_value: ".google.protobuf.Int64Value",
  uint32_value: ".google.protobuf.UInt32Value",
  bool_value: ".google.protobuf.BoolValue",
  bytes_value: ".google.protobuf.BytesValue",
  double_value: ".google.protobuf.DoubleValue",
  every_kind: ".test.EveryKind",
  leaf: ".test.Leaf",
};
const dependencies: readonly DescFile[] = [
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
];

interface FieldType {
  readonly name: string;
  readonly type: Type;
  readonly typeName?: string;
}

const types: readonly FieldType[] = [
  ...scalars.map((name) => ({ name, type: Type[name.toUpperCase() as Uppercase<typeof name>] })),
  { name: "colour", type: Type.ENUM, typeName: ".test.Colour" },
  ...Object.entries(messages).map(([name, typeName]) => ({ name, type: Type.MESSAGE, typeName })),
];

let nextNumber = 1;

function field(prefix: string, type: FieldType, more: object = {}) {
  return { ...type, ...named(`${prefix}_${type.name}`), label: Label.OPTIONAL, ...more };
}

// Sets the JSON name, which the protobuf compiler would set.
function named(name: string) {
  return { name, jsonName: protoCamelCase(name), number: nextNumber++ };
}

function mapEntry(prefix: string, key: FieldType, value: FieldType) {
  const name = `${prefix}_${key.name}_${value.name}`;
  const entry = {
    name: `${name}_entry`,
    options: { mapEntry: true },
    field: [
      { ...key, name: "key", number: 1, label: Label.OPTIONAL },
      { ...value, name: "value", number: 2, label: Label.OPTIONAL },
    ],
  };
  const typeName = `.test.EveryKind.${entry.name}`;
  return { entry, field: { ...named(name), label: Label.REPEATED, type: Type.MESSAGE, typeName } };
}

function everyKindFile(): DescFile {
  const optional = types.filter((type) => type.type !== Type.MESSAGE);
  const text = types.find((type) => type.name === "string")!;
  const leafText = { ...text, name: "text", jsonName: "text", number: 1, label: Label.OPTIONAL };
  const maps = [
    ...keyScalars.map((key) => mapEntry("map", types.find((type) => type.name === key)!, text)),
    ...types.filter((type) => type !== text).map((type) => mapEntry("map", text, type)),
  ];
  const file = create(FileDescriptorProtoSchema, {
    name: "test/every_kind.proto",
    package: "test",
    syntax: "proto3",
    dependency: dependencies.map((dependency) => dependency.proto.name),
    enumType: [
      {
        name: "Colour",
        value: ["COLOUR_UNSPECIFIED", "COLOUR_RED", "COLOUR_BLUE"].map((name, number) => ({ name, number })),
      },
    ],
    messageType: [
      {
        name: "EveryKind",
        field: [
          ...types.map((type) => field("one", type)),
          ...types.map((type) => field("many", type, { label: Label.REPEATED })),
          ...types.map((type) => field("choice", type, { oneofIndex: 0 })),
          ...maps.map((map) => map.field),
          ...optional.map((type, i) => field("maybe", type, { proto3Optional: true, oneofIndex: i + 1 })),
        ],
        oneofDecl: [{ name: "choice" }, ...optional.map((type) => ({ name: `_maybe_${type.name}` }))],
        nestedType: maps.map((map) => map.entry),
      },
      { name: "Leaf", field: [leafText] },
      {
        name: "WithAny",
        field: [
          { name: "any", number: 1, label: Label.OPTIONAL, type: Type.MESSAGE, typeName: ".google.protobuf.Any" },
        ],
      },
    ],
  });
  const registry = createFileRegistry(file, (name) =>
    dependencies.find((dependency) => dependency.proto.name === name),
  );
  return registry.getFile("test/every_kind.proto")!;
}

const file = everyKindFile();

/** The message type with every kind of field. */
export const everyKind: DescMessage = file.messages.find((message) => message.name === "EveryKind")!;

/** A message type that contains Any, which has no supported JSON form. */
export const withAny: DescMessage = file.messages.find((message) => message.name === "WithAny")!;
