import { randomFillSync } from "node:crypto";

/** The content of a `traceparent` header. */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** The caller's span, 16 hex digits. */
  readonly spanId: string;
  /** Whether the caller samples this trace. */
  readonly sampled: boolean;
}

// https://www.w3.org/TR/trace-context/#traceparent-header. Versions after 00 may append fields; ff is forbidden.
const pattern = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const noTrace = "0".repeat(32);
const noSpan = "0".repeat(16);

/** Parses a `traceparent` header; returns undefined for a missing or invalid one, which starts a new trace. */
export function parseTraceparent(header: string | undefined): TraceContext | undefined {
  if (header === undefined || header.length < 55 || header.length > 512) return undefined;
  const match = pattern.exec(header.trim());
  if (match === null) return undefined;
  const [, version, traceId, spanId, flags, more] = match as unknown as [
    string,
    string,
    string,
    string,
    string,
    string?,
  ];
  if (version === "00" && more !== undefined) return undefined;
  if (traceId === noTrace || spanId === noSpan) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Formats a `traceparent` header. */
export function formatTraceparent(context: TraceContext): string {
  return `00-${context.traceId}-${context.spanId}-${context.sampled ? "01" : "00"}`;
}

// Random bytes are generated in bulk, because one call costs as much as formatting hundreds of ids.
const pool = Buffer.alloc(8192);
let poolAt = pool.length;

/** Generates a random id of 8 or 16 bytes as hex digits, never all zeros. */
export function randomId(bytes: 8 | 16): string {
  if (poolAt + bytes > pool.length) {
    randomFillSync(pool);
    poolAt = 0;
  }
  const id = pool.toString("hex", poolAt, poolAt + bytes);
  poolAt += bytes;
  // The format reserves an all-zero id for "none".
  return id === noSpan || id === noTrace ? randomId(bytes) : id;
}
