/** Single values as JSON text. */

const plainAscii = /^[ !#-[\]-~]*$/;

/** Writes a string. Most are plain ASCII, and finding that out costs less than JSON.stringify. */
export function stringText(text: string): string {
  if (text.length > 16) return plainAscii.test(text) ? `"${text}"` : JSON.stringify(text);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 32 || code > 126 || code === 34 || code === 92) return JSON.stringify(text);
  }
  return `"${text}"`;
}

/** Writes a number; those that JSON cannot hold become the strings that proto3 gives them. */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return `"${value}"`;
  return value === 0 && 1 / value < 0 ? "-0" : `${value}`;
}

/** Writes a 64-bit integer as a string, which every reader keeps exact. */
export function longText(value: bigint | string): string {
  return `"${value}"`;
}

/** Writes a 64-bit integer as a number while a double holds it exactly, else as a string. */
export function plainLongText(value: bigint | string): string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? `${number}` : `"${value}"`;
}

/** Writes bytes in base64. */
export function bytesText(value: Uint8Array): string {
  return `"${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64")}"`;
}
