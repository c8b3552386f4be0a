import { useRef } from "preact/hooks";

const samplesMax = 120;

/** Collects the values that a page has seen, so that it can draw them over time. */
export function useSamples<Values extends Readonly<Record<string, number>>>(
  key: string,
  values: Values | undefined,
): { readonly times: readonly string[]; readonly of: (name: keyof Values) => readonly number[] } {
  const kept = useRef<{ key: string; last: Values | undefined; samples: { time: string; values: Values }[] }>({
    key,
    last: undefined,
    samples: [],
  });
  if (kept.current.key !== key) kept.current = { key, last: undefined, samples: [] };
  if (values !== undefined && values !== kept.current.last) {
    kept.current.last = values;
    kept.current.samples.push({ time: new Date().toLocaleTimeString("en-GB"), values });
    if (kept.current.samples.length > samplesMax) kept.current.samples.shift();
  }
  const { samples } = kept.current;
  return { times: samples.map(({ time }) => time), of: (name) => samples.map((sample) => sample.values[name]!) };
}
