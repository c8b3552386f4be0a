import type { Json } from "./json.ts";

/** Whether a value nests more levels of objects and lists than allowed. */
export function isTooDeep(value: Json, levelsMax: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levelsMax === 0) return true;
  return Object.values(value).some((each) => isTooDeep(each, levelsMax - 1));
}
