import { CliError, exitCodes } from "../exit-codes.ts";

/**
 * The text of one field of a response's `data`, for scripts: `id`, `items.0.lease_token`. In a list, a path that does not
 * start with a number is read from every record, one per line.
 */
export function responseField(body: Buffer, path: string): string {
  const { data } = JSON.parse(body.toString()) as { data: unknown };
  const names = path.split(".");
  const values = Array.isArray(data) && !/^\d/.test(path) ? data.map((each) => pick(each, names)) : [pick(data, names)];
  return values.map((value) => `${textOf(value)}\n`).join("");
}

function pick(record: unknown, names: readonly string[]): unknown {
  let value = record;
  for (const [at, name] of names.entries()) {
    const known = typeof value === "object" && value !== null ? Object.keys(value) : [];
    if (!known.includes(name)) {
      const available = known.length === 0 ? "none" : known.join(", ");
      const path = names.slice(0, at + 1).join(".");
      throw new CliError(`The response has no field ${path} (available: ${available})`, exitCodes.failed);
    }
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

function textOf(value: unknown): string {
  if (value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
