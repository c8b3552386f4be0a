/**
 * Serialises a value to canonical JSON (RFC 8785: sorted members, no whitespace), so that equal values have equal hashes.
 * Undefined members are omitted, as in JSON.stringify.
 */
export function canonicalJson(value: unknown): string {
  if (value === undefined) return "null";
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const record = value as Record<string, unknown>;
  let text = "";
  for (const name of Object.keys(record).sort()) {
    const member = record[name];
    if (member === undefined) continue;
    text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}
