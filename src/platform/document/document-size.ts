import { invalid } from "../../errors/index.ts";
import { memberPath, type Violations } from "./violation.ts";

/** Throws INVALID_ARGUMENT if a field of a request has more bytes as JSON than it may have. */
export function requireJsonBytes(field: string, value: unknown, bytesMax: number): void {
  if (Buffer.byteLength(JSON.stringify(value)) <= bytesMax) return;
  throw invalid(field, "max_bytes", `must have at most ${bytesMax} bytes as JSON`);
}

/** The bounds of a document. */
export interface DocumentLimits {
  /** The size as JSON, in bytes. */
  readonly bytesMax: number;
  /** The nesting of objects and lists. */
  readonly depthMax: number;
  /** Advice for a document that is too large. */
  readonly advice: string;
}

/** A value of the document that is still to be visited. */
interface Place {
  readonly value: unknown;
  readonly parent: Place | undefined;
  readonly segment: string | number;
  readonly depth: number;
}

/**
 * Checks that a value is JSON within the size and nesting limits of documents. All other readers rely on it. It needs
 * neither recursion nor more work than the limits allow, also for values that contain the same object many times.
 */
export function checkDocumentSize(
  document: unknown,
  violations: Violations,
  { bytesMax, depthMax, advice }: DocumentLimits,
): boolean {
  const open: Place[] = [{ value: document, parent: undefined, segment: "", depth: 1 }];
  let bytes = 0;
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { value, depth } = place;
    const size = sizeOf(value, bytesMax);
    if (size === undefined) {
      violations.add(
        pathOf(place),
        "type",
        "must be JSON: an object, a list, a text, a finite number, a boolean or null",
      );
      return false;
    }
    bytes += size;
    if (typeof value === "object" && value !== null) {
      const isList = Array.isArray(value);
      const names = isList ? [] : Object.keys(value);
      // Each member has a separator and, in an object, a name.
      bytes += Math.max(0, (isList ? value.length : names.length) - 1);
      if (!isList) for (const name of names) bytes += textBytes(name, bytesMax) + 1;
      if (names.includes("__proto__")) {
        violations.add(pathOf(place), "reserved_name", "must not have a member with the name __proto__: rename it");
        return false;
      }
      if (depth > depthMax) {
        violations.add("", "nesting", `must not nest deeper than ${depthMax} levels of objects and lists`);
        return false;
      }
      if (bytes <= bytesMax) {
        for (const segment of isList ? value.keys() : names) {
          const member = (value as Record<string | number, unknown>)[segment];
          open.push({ value: member, parent: place, segment, depth: depth + 1 });
        }
      }
    }
    if (bytes > bytesMax) {
      violations.add("", "size", `must have at most ${bytesMax / 1024} KiB as JSON: ${advice}`);
      return false;
    }
  }
  return true;
}

function pathOf({ parent, segment }: Place): string {
  if (parent === undefined) return "";
  return typeof segment === "number" ? `${pathOf(parent)}[${segment}]` : memberPath(pathOf(parent), segment);
}

/** The size of a value as JSON without its members; undefined if it is not JSON. */
function sizeOf(value: unknown, bytesMax: number): number | undefined {
  switch (typeof value) {
    case "string":
      return textBytes(value, bytesMax);
    case "number":
      return Number.isFinite(value) ? String(value).length : undefined;
    case "boolean":
      return value ? 4 : 5;
    case "object":
      return value === null ? 4 : 2;
    default:
      return undefined;
  }
}

function textBytes(text: string, bytesMax: number): number {
  // A longer text exceeds the limit without being encoded.
  return text.length > bytesMax ? text.length : Buffer.byteLength(JSON.stringify(text));
}
