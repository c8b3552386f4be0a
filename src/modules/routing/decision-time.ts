/** How long one decision may take before its rules are given up. */
export const decisionMsMax = 50;

/** Says from so many milliseconds on that time is up. */
export function overdueAfter(ms: number): () => boolean {
  const endMs = performance.now() + ms;
  return () => performance.now() > endMs;
}
