import { checkValue } from "../../../../platform/json-schema/index.ts";
import type { Definition, Json } from "../../definitions/index.ts";

/** Says why an input does not match the schema of its definition; undefined if it does. */
export function checkRunInput({ inputSchema }: Pick<Definition, "inputSchema">, input: Json): string | undefined {
  if (inputSchema === undefined) return undefined;
  const violations = checkValue(inputSchema, input, "input");
  return violations.length === 0
    ? undefined
    : `The input does not match the schema: ${violations.map(({ path, message }) => `${path} ${message}`).join("; ")}.`;
}
