import type { Json } from "../../../../platform/document/index.ts";

const dayS = 86_400;
const ledgerSMin = 7 * dayS;

/**
 * The start of what a scan asks for. It looks back from the start of the last complete scan, so that items which the provider
 * shows late are found, and however long the service was stopped, nothing is left out.
 */
export function windowStartMs(scannedAtMs: number | undefined, startedAtMs: number, lookbackS: number): number {
  return Math.max(0, (scannedAtMs ?? startedAtMs) - lookbackS * 1000);
}

/**
 * How long a seen key is kept after the last complete scan that could have found its item. Every item in the window of a scan
 * was seen later than the start of the window, so twice the look-back time and a day for wrong clocks are safe.
 */
export function ledgerSeconds(lookbackS: number): number {
  return Math.max(2 * lookbackS + dayS, ledgerSMin);
}

/** Formats the start of a window for the provider. */
export function formatSince(atMs: number, format: "rfc3339" | "epoch_s" | "epoch_ms"): string | number {
  return { rfc3339: new Date(atMs).toISOString(), epoch_s: Math.floor(atMs / 1000), epoch_ms: atMs }[format];
}

/** The key of an item from the values of its key fields; undefined if all are absent. */
export function itemKey(values: readonly (Json | undefined)[]): string | undefined {
  if (values.every((each) => each === undefined || each === null)) return undefined;
  return JSON.stringify(values.map((each) => each ?? null));
}
