/** The size of the files of the write-ahead log. */
const segmentBytes = 16n * 1024n * 1024n;
const segmentsPerLog = 256n;
const segmentName = /^[0-9A-F]{24}$/;

export function isSegment(name: string): boolean {
  return segmentName.test(name);
}

/** The number of the segment that holds the byte before a position. */
export function segmentBefore(lsn: string): bigint {
  const [high, low] = lsn.split("/").map((part) => BigInt(`0x${part}`));
  return ((high! << 32n) + low! - 1n) / segmentBytes;
}

/** The file name of a segment, as PostgreSQL writes it: its timeline, and its number in two parts. */
export function nameOfSegment(timeline: number, number: bigint): string {
  return [BigInt(timeline), number / segmentsPerLog, number % segmentsPerLog]
    .map((part) => part.toString(16).toUpperCase().padStart(8, "0"))
    .join("");
}

/** The folder of a timeline's segments in the backup store. */
export function walFolder(systemId: string, timeline: number): string {
  return `wal/${systemId}/${nameOfSegment(timeline, 0n).slice(0, 8)}/`;
}
