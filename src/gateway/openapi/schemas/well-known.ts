import { type DescMessage, ScalarType } from "@bufbuild/protobuf";
import type { Schema } from "../document.ts";

const wellKnown: Readonly<Record<string, Schema>> = {
  "google.protobuf.Timestamp": { type: "string", format: "date-time" },
  "google.protobuf.Duration": { type: "string", pattern: "^-?[0-9]+(\\.[0-9]{1,9})?s$" },
  "google.protobuf.FieldMask": { type: "string" },
  "google.protobuf.Empty": { type: "object" },
  "google.protobuf.Struct": { type: "object", additionalProperties: true },
  "google.protobuf.ListValue": { type: "array", items: {} },
  "google.protobuf.Value": {},
  "google.protobuf.Any": { type: "object", additionalProperties: true },
  "google.protobuf.BoolValue": { type: ["boolean", "null"] },
  "google.protobuf.StringValue": { type: ["string", "null"] },
  "google.protobuf.BytesValue": { type: ["string", "null"], contentEncoding: "base64" },
  "google.protobuf.DoubleValue": { type: ["number", "null"], format: "double" },
  "google.protobuf.FloatValue": { type: ["number", "null"], format: "float" },
  "google.protobuf.Int32Value": { type: ["integer", "null"], format: "int32" },
  "google.protobuf.Int64Value": { type: ["integer", "null"], format: "int64" },
  "google.protobuf.UInt32Value": { type: ["integer", "null"], minimum: 0 },
  "google.protobuf.UInt64Value": { type: ["integer", "null"], minimum: 0 },
};

/** The schema of a well-known type with its own JSON form; undefined for other messages. */
export function wellKnownSchema(message: DescMessage): Schema | undefined {
  return wellKnown[message.typeName];
}

/** Whether a message is a raw body with its own media type. */
export function isHttpBody(message: DescMessage | undefined): boolean {
  return message?.typeName === "google.api.HttpBody";
}

/** The schema of a scalar. 64-bit integers are JSON numbers in REST. */
export function scalarSchema(scalar: ScalarType): Schema {
  switch (scalar) {
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.STRING:
      return { type: "string" };
    case ScalarType.BYTES:
      return { type: "string", contentEncoding: "base64" };
    case ScalarType.DOUBLE:
      return { type: "number", format: "double" };
    case ScalarType.FLOAT:
      return { type: "number", format: "float" };
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return { type: "integer", format: "int32" };
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return { type: "integer", minimum: 0, maximum: 4_294_967_295 };
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return { type: "integer", minimum: 0 };
    default:
      return { type: "integer", format: "int64" };
  }
}
