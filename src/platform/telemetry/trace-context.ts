import { randomFillSync } from "node:crypto";

/** Which trace a call is part of, as the header `traceparent` says it. */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** The caller's span, 16 hex digits. */
  readonly spanId: string;
  /** Whether the caller records this trace. */
  readonly sampled: boolean;
}

// https://www.w3.org/TR/trace-context/#traceparent-header. Versions after 00 may append fields; ff is forbidden.
const pattern = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const noTrace = "0".repeat(32);
const noSpan = "0".repeat(16);

/** Reads a `traceparent` header; undefined when it is missing or invalid, which starts a new trace. */
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

/** Writes a `traceparent` header. */
export function formatTraceparent(context: TraceContext): string {
  return `00-${context.traceId}-${context.spanId}-${context.sampled ? "01" : "00"}`;
}

// Random bytes are drawn many at a time: one draw costs as much as hundreds of ids.
const pool = Buffer.alloc(8192);
let poolAt = pool.length;

/** Fresh random hex digits of 8 or 16 bytes, never all zero. */
export function randomId(bytes: 8 | 16): string {
  if (poolAt + bytes > pool.length) {
    randomFillSync(pool);
    poolAt = 0;
  }
  const id = pool.toString("hex", poolAt, poolAt + bytes);
  poolAt += bytes;
  // All zero means "none" in this format: as unlikely as it is, it is not an id.
  return id === noSpan || id === noTrace ? randomId(bytes) : id;
}
