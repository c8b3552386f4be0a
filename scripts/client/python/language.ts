import { type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { isPythonKeyword } from "../../../src/platform/text/python-name.ts";
import type { Direction, Language, ObjectField } from "../types.ts";

/** The types of Python. Annotations are texts for its interpreter, so they may use newer syntax than the oldest version. */
export const python: Language = {
  moduleName: (file) => file,
  jsonModule: "typing",
  wellKnownType,
  scalarType,
  literals: (values) => `Literal[${values.map((each) => JSON.stringify(each)).join(", ")}]`,
  list: (item, direction) => (direction === "request" ? `Sequence[${item}]` : `List[${item}]`),
  map: (value, direction) => (direction === "request" ? `Mapping[str, ${value}]` : `Dict[str, ${value}]`),
  declareEnum: (name, comment, values) => `${remark(comment)}${name} = ${python.literals(values)}\n`,
  declareObject(name, comment, fields) {
    if (fields.some((field) => isPythonKeyword(field.name))) return functionalDict(name, comment, fields);
    const required = fields.filter(({ isOptional }) => !isOptional);
    const optional = fields.filter(({ isOptional }) => isOptional);
    if (optional.length === 0) return typedDict(name, "TypedDict", comment, required);
    if (required.length === 0) return typedDict(name, "TypedDict, total=False", comment, optional);
    const base = `_${name}Required`;
    return `${typedDict(base, "TypedDict", "", required)}\n\n${typedDict(name, `${base}, total=False`, comment, optional)}`;
  },
};

/** Writes the documentation of what precedes it, at a depth of indentation. */
export function docString(text: string, indent: string): string {
  const safe = text.replaceAll("\\", "\\\\").replaceAll('"""', '\\"\\"\\"');
  // A quotation mark before the closing ones would end the text too early.
  return text === "" ? "" : `${indent}"""${safe.endsWith('"') ? `${safe} ` : safe}"""\n`;
}

function remark(text: string, indent = ""): string {
  return text === "" ? "" : `${indent}#: ${text}\n`;
}

function typedDict(name: string, bases: string, comment: string, fields: readonly ObjectField[]): string {
  const lines = fields.map((field) => `${remark(field.comment, "    ")}    ${field.name}: ${field.type}\n`);
  const body = `${docString(comment, "    ")}${comment !== "" && lines.length > 0 ? "\n" : ""}${lines.join("")}`;
  return `class ${name}(${bases}):\n${body === "" ? "    pass\n" : body}`;
}

/** A class cannot have fields that are keywords. */
function functionalDict(name: string, comment: string, fields: readonly ObjectField[]): string {
  const lines = fields.map(
    (field) => `${remark(field.comment, "        ")}        "${field.name}": ${JSON.stringify(field.type)},\n`,
  );
  return `${remark(comment)}${name} = TypedDict(\n    "${name}",\n    {\n${lines.join("")}    },\n    total=False,\n)\n`;
}

function wellKnownType(message: DescMessage, direction: Direction): string | undefined {
  switch (message.typeName) {
    case "google.protobuf.Timestamp":
      return direction === "request" ? "str | datetime" : "str";
    case "google.protobuf.Struct":
      return direction === "request" ? "Mapping[str, Any]" : "Dict[str, Any]";
    case "google.protobuf.Value":
      return "Any";
    case "google.api.HttpBody":
      return "bytes | str";
    default:
      if (message.typeName.startsWith("google.")) throw new Error(`${message.typeName} has no type in the client`);
      return undefined;
  }
}

function scalarType(scalar: ScalarType): string {
  switch (scalar) {
    case ScalarType.BOOL:
      return "bool";
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return "str";
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return "float";
    default:
      return "int";
  }
}
