const valueBytes = 16;

/** The memory of a value, roughly. */
export function approximateBytes(value: unknown): number {
  if (typeof value === "string") return valueBytes + 2 * value.length;
  if (typeof value !== "object" || value === null) return valueBytes;
  let sum = valueBytes;
  if (Array.isArray(value)) for (const each of value) sum += approximateBytes(each);
  else for (const name in value) sum += 2 * name.length + approximateBytes((value as Record<string, unknown>)[name]);
  return sum;
}
