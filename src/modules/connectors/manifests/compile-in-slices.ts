import type { TimeSlices } from "../../../platform/event-loop/index.ts";
import { type CompiledManifest, compileInSteps } from "./domain/language/compile-manifest.ts";

/** Compiles a document. Other work continues between two slices. */
export async function compileInSlices(document: unknown, slices: TimeSlices): Promise<CompiledManifest> {
  const work = compileInSteps(document);
  for (let result = work.next(); ; result = work.next()) {
    if (result.done === true) return result.value;
    if (slices.isOver()) await slices.next();
  }
}
