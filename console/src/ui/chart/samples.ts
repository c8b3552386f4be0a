import { useRef } from "preact/hooks";

const samplesMax = 120;

/** Values that a page has read at a time. */
export interface Sample<Values> {
  readonly atMs: number;
  readonly values: Values;
}

/** Collects the values that a page has read, so that it can draw them over time. */
export function useSamples<Values extends object>(key: string, values: Values | undefined): readonly Sample<Values>[] {
  const kept = useRef<{ key: string; samples: readonly Sample<Values>[] }>({ key, samples: [] });
  if (kept.current.key !== key) kept.current = { key, samples: [] };
  if (values !== undefined && values !== kept.current.samples.at(-1)?.values) {
    const samples = [...kept.current.samples, { atMs: Date.now(), values }];
    kept.current = { key, samples: samples.slice(-samplesMax) };
  }
  return kept.current.samples;
}
