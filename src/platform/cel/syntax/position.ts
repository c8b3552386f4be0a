import type { CelPosition } from "../cel-error.ts";

/** Converts an offset in a source to a position. */
export function positionAt(source: string, offset: number): CelPosition {
  const before = source.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - lineStart + 1, offset };
}
