import { invalid } from "../../../../errors/index.ts";
import { CelError, type CelVariables, compileTemplate, type Template } from "../../../../platform/cel/index.ts";
import type { Json, JsonObject } from "../../../../platform/document/index.ts";

/** The connector action that delivers a recipient's items. */
export interface DeliveryAction {
  readonly key: string;
  /** Empty for providers without authentication. */
  readonly connectionId: string;
  /** A template of the item; undefined for the item itself. */
  readonly input: JsonObject | undefined;
}

const variables: CelVariables = { item: "map" };
const keyPattern = /^[a-z0-9][a-z0-9-]*(\.[a-z][a-z0-9_]*)+$/;
const inputBytesMax = 16_384;

/** Checks the key and the expressions of an action. */
export function checkActionInput({ key, input }: DeliveryAction, path: string): void {
  if (!keyPattern.test(key)) {
    throw invalid(`${path}.key`, "pattern", "must be the key of a connector action (for example: slack.message.send)");
  }
  if (input === undefined) return;
  if (Buffer.byteLength(JSON.stringify(input)) > inputBytesMax) {
    throw invalid(`${path}.input`, "max_bytes", `must have at most ${inputBytesMax} bytes as JSON`);
  }
  try {
    compileTemplate(input, variables);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    throw invalid(`${path}.input`, "cel", `has an invalid expression: ${error.message}`);
  }
}

const compiled = new WeakMap<JsonObject, Template>();

/** The input of the action for one item. Throws CelError if an expression fails. */
export function renderActionInput({ input }: DeliveryAction, item: JsonObject): Json {
  if (input === undefined) return item;
  // Snapshots of pools keep their recipients, so that the template is compiled once per snapshot.
  const template = compiled.get(input) ?? compileTemplate(input, variables);
  compiled.set(input, template);
  return template.evaluate({ item }, { steps: 0 });
}
