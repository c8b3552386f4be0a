import { invalid } from "../../../../errors/index.ts";
import { CelError, type CelVariables, compileTemplate } from "../../../../platform/cel/index.ts";
import { isTooDeep, type Json, type JsonObject } from "../../../../platform/document/index.ts";

/** Values for the templates of an item. */
export interface TemplateValues {
  readonly id: string;
  readonly name: string;
  readonly time: Date;
}

const variables: CelVariables = { schedule: "map" };

/** The fields of an item that are templates. */
const templateFields = ["key", "attributes", "payload"] as const;

const itemBytesMax = 64 * 1024;
const depthMax = 16;

/** Throws INVALID_ARGUMENT if an item cannot be routed by a schedule. `item` is in its JSON form. */
export function checkItem(item: JsonObject): void {
  if ((item.pool_id ?? "") === "") throw invalid("item.pool_id", "required", "must be the id of a pool");
  if (item.not_before !== undefined) {
    throw invalid("item.not_before", "absent", "must be absent: the item is routed at the times of the schedule");
  }
  if (item.reject_as_error === true) {
    throw invalid("item.reject_as_error", "absent", "must be absent: a rejection is the result of a run");
  }
  if (Buffer.byteLength(JSON.stringify(item)) > itemBytesMax) {
    throw invalid("item", "max_bytes", "must be at most 64 KiB as JSON");
  }
  if (isTooDeep(item, depthMax)) throw invalid("item", "depth", `must be nested at most ${depthMax} levels deep`);
  for (const field of templateFields) {
    try {
      compileTemplate(item[field] ?? null, variables);
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      throw invalid(`item.${field}`, `cel.${error.kind}`, `has an invalid expression: ${error.message}`);
    }
  }
}

/** The item of a run. Throws CelError if an expression fails. */
export function renderItem(item: JsonObject, schedule: TemplateValues): JsonObject {
  const meter = { steps: 0 };
  const rendered: Record<string, Json> = { ...item };
  for (const field of templateFields) {
    const template = item[field];
    if (template === undefined) continue;
    rendered[field] = compileTemplate(template, variables).evaluate({ schedule: { ...schedule } }, meter);
  }
  if (rendered.key !== undefined) rendered.key = toKey(rendered.key);
  return rendered;
}

function toKey(value: Json): string {
  if (typeof value === "object") throw new CelError("evaluation", "The key must be a text.");
  return String(value);
}
