import { writePython, writeTypeScript } from "./program-samples.ts";
import type { SampledOperation, SampleValues } from "./sampled-operation.ts";
import { writeCommand, writeCurl } from "./shell-samples.ts";

/** The languages of the samples, in the order in which they are offered. */
export const languages = ["curl", "CLI", "TypeScript", "Python"] as const;

export type Language = (typeof languages)[number];

const writers: Readonly<Record<Language, (operation: SampledOperation, values: SampleValues) => string | undefined>> = {
  curl: writeCurl,
  CLI: writeCommand,
  TypeScript: writeTypeScript,
  Python: writePython,
};

/** Writes a request in a language; undefined if the operation is not offered there. */
export function writeSample(language: Language, operation: SampledOperation, values: SampleValues): string | undefined {
  return writers[language](operation, values);
}
