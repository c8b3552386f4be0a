import { useRef } from "preact/hooks";

const samplesMax = 120;

/** Values that a page has read at a time. */
export interface Sample<Values> {
  readonly atMs: number;
  readonly values: Values;
}

interface Kept<Values> {
  readonly key: string;
  readonly earlier: Values | undefined;
  readonly samples: readonly Sample<Values>[];
}

/** Collects the values that a page has read, so that it can draw them over time. */
export function useSamples<Values extends object>(key: string, values: Values | undefined): readonly Sample<Values>[] {
  const kept = useRef<Kept<Values>>(undefined);
  // What is there at first may have been read on an earlier visit: nobody knows when, so it only stands in for the first sample.
  if (kept.current?.key !== key) kept.current = { key, earlier: values, samples: [] };
  const { earlier, samples } = kept.current;
  if (values !== undefined && values !== samples.at(-1)?.values) {
    const known = samples.filter((sample) => sample.values !== earlier);
    kept.current = { key, earlier, samples: [...known, { atMs: Date.now(), values }].slice(-samplesMax) };
  }
  return kept.current.samples;
}
