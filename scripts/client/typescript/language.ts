import { type DescMessage, ScalarType } from "@bufbuild/protobuf";
import type { Direction, Language } from "../types.ts";

/** The types of TypeScript. */
export const typescript: Language = {
  moduleName: (file) => file.replaceAll("_", "-"),
  jsonModule: "../json",
  wellKnownType,
  scalarType,
  literals: (values) => values.map((each) => JSON.stringify(each)).join(" | "),
  list: (item) => (/^\w+$/.test(item) ? `readonly ${item}[]` : `readonly (${item})[]`),
  map: (value) => `Readonly<Record<string, ${value}>>`,
  declareEnum: (name, comment, values) =>
    `${docComment(comment)}export type ${name} = ${values.map((each) => JSON.stringify(each)).join(" | ")};\n`,
  declareObject(name, comment, fields) {
    const lines = fields.map(
      (field) =>
        `${docComment(field.comment, "  ")}  readonly ${field.name}${field.isOptional ? "?" : ""}: ${field.type};\n`,
    );
    const body = lines.length === 0 ? "Record<never, never>" : `{\n${lines.join("")}}`;
    return `${docComment(comment)}export type ${name} = ${body};\n`;
  },
};

/** Writes a documentation comment. */
export function docComment(text: string, indent = ""): string {
  const safe = text.replaceAll("*/", "*\u200b/");
  return safe === "" ? "" : `${indent}/** ${safe} */\n`;
}

function wellKnownType(message: DescMessage, direction: Direction): string | undefined {
  switch (message.typeName) {
    case "google.protobuf.Timestamp":
      return direction === "request" ? "string | Date" : "string";
    case "google.protobuf.Struct":
      return direction === "request" ? "object" : "JsonObject";
    case "google.protobuf.Value":
      return direction === "request" ? "unknown" : "JsonValue";
    case "google.api.HttpBody":
      return "RawBody";
    default:
      if (message.typeName.startsWith("google.")) throw new Error(`${message.typeName} has no type in the client`);
      return undefined;
  }
}

function scalarType(scalar: ScalarType): string {
  switch (scalar) {
    case ScalarType.BOOL:
      return "boolean";
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return "string";
    default:
      return "number";
  }
}
