import { messageOf, type SampledOperation, type SampleValues, targetOf } from "./sampled-operation.ts";

/** A request with curl. The shell has the address and the key. */
export function writeCurl(operation: SampledOperation, values: SampleValues): string {
  const { verb, isRaw, result } = operation;
  const flags = ["curl -sS --fail-with-body"];
  if (result === "stream") flags.push("-N");
  if (verb !== "GET") flags.push(`-X ${verb}`);
  const parts = [`${flags.join(" ")} "$SWITCHYARD_ADDRESS${targetOf(operation, values)}"`];
  parts.push(`-H "X-API-Key: $SWITCHYARD_KEY"`);
  if (isRaw) parts.push("-H 'Content-Type: application/octet-stream'", "--data-binary @file");
  else if (values.body !== undefined) {
    parts.push("-H 'Content-Type: application/json'", `-d ${quoted(jsonOf(values.body))}`);
  }
  return parts.join(" \\\n  ");
}

/** A request on the command line; undefined if it has no such command. */
export function writeCommand(operation: SampledOperation, values: SampleValues): string | undefined {
  if (operation.command === undefined) return undefined;
  const variables = [...operation.path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name!);
  const message = messageOf(operation, values);
  const words = variables.map((name) => quoted(String(message[name] ?? "")));
  const options = Object.entries(message).flatMap(([name, value]) =>
    variables.includes(name)
      ? []
      : optionsOf(name.replaceAll("_", "-"), name === operation.body && operation.isRaw ? "@file" : value),
  );
  return [["service", operation.command, ...words].join(" "), ...options].join(" \\\n  ");
}

function optionsOf(name: string, value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (typeof value === "boolean") return [value ? `--${name}` : `--no-${name}`];
  if (!Array.isArray(value)) return [`--${name} ${textOf(value)}`];
  const isPlain = value.every((each) => typeof each !== "object");
  return isPlain ? value.map((each) => `--${name} ${textOf(each)}`) : [`--${name} ${textOf(value)}`];
}

const lineMax = 60;

/** JSON on one line if it is short. */
function jsonOf(value: unknown): string {
  const short = JSON.stringify(value);
  return short.length <= lineMax ? short : JSON.stringify(value, null, 2);
}

function textOf(value: unknown): string {
  return quoted(typeof value === "object" ? jsonOf(value) : String(value));
}

/** A word as a shell reads it. */
export function quoted(text: string): string {
  return /^[\w./:,=+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
