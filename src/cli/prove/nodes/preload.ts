/** The URL of a module with this code, for `node --import`. */
export function preloadOf(code: string): string {
  return `data:text/javascript,${encodeURIComponent(code)}`;
}

/** Code of a node that ends with the process that started it, however that ends. */
export const endWithStarter = `
  import { isMainThread } from "node:worker_threads";
  if (isMainThread) {
    process.stdin.resume().on("end", () => process.exit(1)).on("error", () => process.exit(1));
    process.stdin.unref();
  }`;

/** Code of a node whose system clock is wrong by so much. */
export function clockSkewedBy(ms: number): string {
  return `
    const { now } = Date;
    globalThis.Date = class extends Date {
      constructor(...values) { super(...(values.length === 0 ? [now() + ${ms}] : values)); }
      static now() { return now() + ${ms}; }
    };`;
}
