import { pythonName } from "../../../platform/text/python-name.ts";
import { messageOf, type SampledOperation, type SampleValues } from "./sampled-operation.ts";

/** A request with the TypeScript client; undefined if the client has no such method. */
export function writeTypeScript(operation: SampledOperation, values: SampleValues): string | undefined {
  if (operation.call === undefined) return undefined;
  const message: Record<string, unknown> = { ...messageOf(operation, values) };
  if (operation.isRaw) message[operation.body!] = new Source(`await readFile("file")`);
  const request = Object.keys(message).length === 0 ? "" : literal(message, typeScript);
  const call = `client.${operation.call}(${request})`;
  const lines = [
    ...(operation.isRaw ? [`import { readFile } from "node:fs/promises";`] : []),
    `import { createClient } from "@switchyard/client";`,
    "",
    "const client = createClient({",
    "  baseUrl: process.env.SWITCHYARD_ADDRESS,",
    "  apiKey: process.env.SWITCHYARD_KEY,",
    "});",
    ...resultLines[operation.result](call),
  ];
  return lines.join("\n");
}

const resultLines: Readonly<Record<SampledOperation["result"], (call: string) => string[]>> = {
  json: (call) => [`const result = await ${call};`, "console.log(result);"],
  list: (call) => [`const page = await ${call}.page();`, "console.log(page.items);"],
  stream: (call) => [`for await (const message of ${call}) {`, "  console.log(message);", "}"],
  raw: (call) => [`const response = await ${call};`, "console.log(await response.text());"],
};

/** A request with the Python client; undefined if the client has no such method. */
export function writePython(operation: SampledOperation, values: SampleValues): string | undefined {
  if (operation.call === undefined) return undefined;
  const message: Record<string, unknown> = { ...messageOf(operation, values) };
  if (operation.isRaw) message[operation.body!] = new Source(`open("file", "rb").read()`);
  const method = operation.call.split(".").map(pythonName).join(".");
  const call = `client.${method}(${keywordArguments(message)})`;
  const lines = [
    "import os",
    "from switchyard import Client",
    "",
    `client = Client(os.environ["SWITCHYARD_ADDRESS"], api_key=os.environ["SWITCHYARD_KEY"])`,
    ...pythonResultLines[operation.result](call),
  ];
  return lines.join("\n");
}

const pythonResultLines: Readonly<Record<SampledOperation["result"], (call: string) => string[]>> = {
  json: (call) => [`result = ${call}`, "print(result)"],
  list: (call) => [`page = ${call}.page()`, "print(page.items)"],
  stream: (call) => [`for message in ${call}:`, "    print(message)"],
  raw: (call) => [`response = ${call}`, "print(response.read().decode())"],
};

function keywordArguments(message: Readonly<Record<string, unknown>>): string {
  const written = (indent: string) =>
    Object.entries(message).map(([name, value]) => `${pythonName(name)}=${literal(value, python, indent)}`);
  const short = written("").join(", ");
  if (!short.includes("\n") && short.length <= lineMax / 2) return short;
  return `\n${written(python.indent)
    .map((argument) => `${python.indent}${argument},\n`)
    .join("")}`;
}

/** An expression among the values of a literal. */
class Source {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** How a language writes values. */
interface Notation {
  readonly indent: string;
  readonly constants: Readonly<Record<string, string>>;
  readonly keyOf: (name: string) => string;
  /** Between the brackets and the entries of an object on one line. */
  readonly padding: string;
}

const typeScript: Notation = {
  indent: "  ",
  constants: {},
  keyOf: (name) => (/^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name)),
  padding: " ",
};

const python: Notation = {
  indent: "    ",
  constants: { true: "True", false: "False", null: "None" },
  keyOf: (name) => JSON.stringify(name),
  padding: "",
};

const lineMax = 76;

/** Writes a JSON value as a literal: on one line if it is short. */
function literal(value: unknown, notation: Notation, indent = ""): string {
  if (value instanceof Source) return value.text;
  if (typeof value !== "object" || value === null) {
    const text = JSON.stringify(value);
    return notation.constants[text] ?? text;
  }
  const inner = indent + notation.indent;
  const isList = Array.isArray(value);
  const entriesAt = (place: string) =>
    isList
      ? value.map((each) => literal(each, notation, place))
      : Object.entries(value).map(([name, each]) => `${notation.keyOf(name)}: ${literal(each, notation, place)}`);
  const short = entriesAt("").join(", ");
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  const padding = isList || short === "" ? "" : notation.padding;
  if (!short.includes("\n") && indent.length + short.length <= lineMax) return open + padding + short + padding + close;
  return `${open}\n${entriesAt(inner)
    .map((entry) => `${inner}${entry},\n`)
    .join("")}${indent}${close}`;
}
