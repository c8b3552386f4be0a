import type { Violation } from "../../../../errors/index.ts";
import type { Json } from "../../../../platform/document/index.ts";
import { checkValue } from "../../../../platform/json-schema/index.ts";
import type { Action } from "./language/action.ts";

/** Checks the input of an action or trigger against its schema; empty if it is valid. */
export function checkInput({ inputSchema }: Pick<Action, "inputSchema">, input: Json): readonly Violation[] {
  return checkValue(inputSchema, input, "input").map(({ path, rule, message }) => ({ field: path, rule, message }));
}
