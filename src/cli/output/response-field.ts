import { CliError, exitCodes } from "../exit-codes.ts";

/**
 * The text of one field of an answer's `data`, for scripts: `id`, `items.0.lease_token`. In a list, a path that does
 * not begin with a number is looked up in every record, one a line.
 */
export function answerField(body: Buffer, path: string): string {
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
      const there = known.length === 0 ? "there are no fields" : `there are ${known.join(", ")}`;
      const path = names.slice(0, at + 1).join(".");
      throw new CliError(`The answer has no field ${path}; ${there}`, exitCodes.failed);
    }
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

function textOf(value: unknown): string {
  if (value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
