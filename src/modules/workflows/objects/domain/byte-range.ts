/** A range of bytes of an object. */
export interface RequestedRange {
  readonly firstByte: number;
  readonly byteCount: number;
  /** Whether it was requested as a range. */
  readonly partial: boolean;
}

const oneRange = /^bytes\s*=\s*(?:(\d+)\s*-\s*(\d*)|-\s*(\d+))$/i;

/**
 * Resolves the value of a Range header. A value with another unit, with several ranges or without sense selects all bytes,
 * as HTTP allows. Undefined if the range has no byte of the object.
 */
export function resolveRange(range: string, sizeBytes: number): RequestedRange | undefined {
  const [, first, last, suffix] = oneRange.exec(range.trim()) ?? [];
  if (suffix !== undefined) {
    const byteCount = Math.min(Number(suffix), sizeBytes);
    return byteCount === 0 ? undefined : { firstByte: sizeBytes - byteCount, byteCount, partial: true };
  }
  if (first === undefined) return { firstByte: 0, byteCount: sizeBytes, partial: false };
  const firstByte = Number(first);
  const lastByte = last === undefined || last === "" ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (last !== undefined && last !== "" && Number(last) < firstByte) {
    return { firstByte: 0, byteCount: sizeBytes, partial: false };
  }
  if (firstByte >= sizeBytes) return undefined;
  return { firstByte, byteCount: lastByte - firstByte + 1, partial: true };
}
