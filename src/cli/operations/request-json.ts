import type { DescField, DescMessage } from "@bufbuild/protobuf";
import type { Operation } from "../../definitions/index.ts";
import { Failure } from "../../errors/index.ts";
import { isRequired } from "../../gateway/openapi/schemas/rules.ts";
import { createJsonDecoder } from "../../platform/protojson/index.ts";
import { usageError } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import type { CommandInput, RequestJson } from "./command-input.ts";
import { textKindOf, textToJson } from "./field-text.ts";
import { parseJsonText, readSource } from "./text-source.ts";

/** Builds the request from the command line and checks it against the definition. */
export async function buildRequestJson(io: Io, operation: Operation, input: CommandInput): Promise<RequestJson> {
  const { method } = operation;
  const json = input.data === undefined ? {} : wholeRequest(method.input, await readSource(io, "--data", input.data));
  for (const { field, flag, options, fromSource } of input.fields) {
    const value = input.options[options[0]!.attributeName()];
    if (value === undefined) continue;
    const one = async (text: string) => textToJson(field, flag, fromSource ? await readSource(io, flag, text) : text);
    if (typeof value === "boolean") json[field.name] = value;
    else if (Array.isArray(value)) json[field.name] = flatten(field, await Promise.all(value.map(one)));
    else json[field.name] = await one(value as string);
  }
  for (const [index, { name }] of input.path.entries()) {
    const field = method.input.fields.find((each) => each.name === name);
    const text = input.pathTexts[index]!;
    json[name] = field === undefined ? text : textToJson(field, `<${name}>`, text);
  }
  await check(operation, json, input);
  requireFields(json, input);
  return json;
}

/** Takes lists of objects apart, so that an option may hold one object or several. */
function flatten(field: DescField, values: readonly unknown[]): readonly unknown[] {
  return textKindOf(field) === "json" ? values.flat() : values;
}

function wholeRequest(input: DescMessage, text: string): RequestJson {
  const json = parseJsonText("--data", text);
  if (typeof json !== "object" || json === null || Array.isArray(json))
    throw usageError('--data: must be a JSON object (for example: {"name":"acme"})');
  // Both spellings of a field are accepted and normalized, so that an option replaces the field.
  const names = new Map(input.fields.map(({ jsonName, name }) => [jsonName, name]));
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [names.get(key) ?? key, value]));
}

/** Refuses a request without a required field before it is sent, because the service names fields and not options. */
function requireFields(json: RequestJson, { fields }: CommandInput): void {
  const missing = fields.filter(({ field }) => json[field.name] === undefined && isRequired(field));
  if (missing.length > 0) throw usageError(missing.map(({ flag }) => `${flag}: is required`).join("\n"));
}

async function check(operation: Operation, json: RequestJson, input: CommandInput): Promise<void> {
  const { fields, path } = input;
  try {
    createJsonDecoder(operation.method.input)(json, { strict: true });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const flags = new Map(fields.map(({ field, flag }) => [field.name, flag]));
    for (const { name } of path) flags.set(name, `<${name}>`);
    const lines = error.violations.map(({ field, message }) => {
      const name = /^[a-z0-9_]+/.exec(field)?.[0] ?? "";
      return `${flags.get(name) ?? name}${field.slice(name.length)}: ${message}`;
    });
    const { correctedCommandOf } = await import("./corrected-command.ts");
    const corrected = correctedCommandOf(operation, input, json, error.violations);
    if (corrected !== undefined) lines.push(`Try: ${corrected}`);
    throw usageError(lines.length > 0 ? lines.join("\n") : error.message);
  }
}
