/** Serialisation of single values to JSON text. */

const plainAscii = /^[ !#-[\]-~]*$/;

/** Serialises a string. Most strings are plain ASCII, and checking this costs less than JSON.stringify. */
export function encodeString(text: string): string {
  if (text.length > 16) return plainAscii.test(text) ? `"${text}"` : JSON.stringify(text);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 32 || code > 126 || code === 34 || code === 92) return JSON.stringify(text);
  }
  return `"${text}"`;
}

/** Serialises a number; NaN and infinities become the strings that proto3 specifies. */
export function encodeNumber(value: number): string {
  if (!Number.isFinite(value)) return `"${value}"`;
  return value === 0 && 1 / value < 0 ? "-0" : `${value}`;
}

/** Serialises a 64-bit integer as a string, which every parser reads exactly. */
export function encodeLongAsString(value: bigint | string): string {
  return `"${value}"`;
}

/** Serialises a 64-bit integer as a number if a double represents it exactly, otherwise as a string. */
export function encodeLong(value: bigint | string): string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? `${number}` : `"${value}"`;
}

/** Serialises bytes as base64. */
export function encodeBytes(value: Uint8Array): string {
  return `"${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64")}"`;
}
