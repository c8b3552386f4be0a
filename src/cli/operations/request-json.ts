import type { DescMessage } from "@bufbuild/protobuf";
import type { Operation } from "../../definitions/index.ts";
import { Failure } from "../../errors/index.ts";
import { createJsonDecoder } from "../../platform/protojson/index.ts";
import { usageError } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { textToJson } from "./field-text.ts";
import type { FieldOption, PathArgument } from "./operation-options.ts";
import { parseJsonText, readSource } from "./text-source.ts";

/** A request's fields as JSON, under the names of the definitions. */
export type RequestJson = Record<string, unknown>;

/** What a command line gives an operation. */
export interface Given {
  readonly path: readonly PathArgument[];
  readonly pathTexts: readonly string[];
  readonly fields: readonly FieldOption[];
  /** The options as the parser left them. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The whole request as JSON, if it was given; options win over it. */
  readonly data: string | undefined;
}

/** Puts together the request that a command line describes, and checks its types against the definition. */
export async function requestJson(io: Io, { method }: Operation, given: Given): Promise<RequestJson> {
  const json = given.data === undefined ? {} : wholeRequest(method.input, await readSource(io, "--data", given.data));
  for (const { field, flag, options, fromSource } of given.fields) {
    const value = given.options[options[0]!.attributeName()];
    if (value === undefined) continue;
    const one = async (text: string) => textToJson(field, flag, fromSource ? await readSource(io, flag, text) : text);
    if (typeof value === "boolean") json[field.name] = value;
    else if (Array.isArray(value)) json[field.name] = await Promise.all(value.map(one));
    else json[field.name] = await one(value as string);
  }
  for (const [index, { name }] of given.path.entries()) json[name] = given.pathTexts[index];
  check(method.input, json, given);
  return json;
}

function wholeRequest(input: DescMessage, text: string): RequestJson {
  const json = parseJsonText("--data", text);
  if (typeof json !== "object" || json === null || Array.isArray(json)) throw usageError("--data: must be an object");
  // Both spellings of a field are taken, and one is kept, so that an option finds what it replaces.
  const names = new Map(input.fields.map(({ jsonName, name }) => [jsonName, name]));
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [names.get(key) ?? key, value]));
}

function check(input: DescMessage, json: RequestJson, { fields, path }: Given): void {
  try {
    createJsonDecoder(input)(json, { strict: true });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const flags = new Map(fields.map(({ field, flag }) => [field.name, flag]));
    for (const { name } of path) flags.set(name, `<${name}>`);
    const lines = error.violations.map(({ field, message }) => {
      const name = /^[a-z0-9_]+/.exec(field)?.[0] ?? "";
      return `${flags.get(name) ?? name}${field.slice(name.length)}: ${message}`;
    });
    throw usageError(lines.length > 0 ? lines.join("\n") : error.message);
  }
}
