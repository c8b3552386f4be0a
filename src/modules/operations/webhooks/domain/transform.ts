import { fail, invalid } from "../../../../errors/index.ts";
import { CelError, type CelVariables, compileTemplate } from "../../../../platform/cel/index.ts";
import { isTooDeep, type Json } from "../../../../platform/document/index.ts";
import type { Event } from "../../events/index.ts";
import { cloudEventOf } from "./cloud-event.ts";

const variables: CelVariables = { event: "map" };
const templateLengthMax = 16 * 1024;

/** The template of a body failed for an event. */
export class TransformError extends Error {}

/** Throws INVALID_ARGUMENT if a template of a body cannot be used. */
export function checkTransform(transform: Json): void {
  if (isTooDeep(transform, 32) || JSON.stringify(transform).length > templateLengthMax) {
    throw invalid(
      "transform",
      "size",
      `must be JSON of at most ${templateLengthMax / 1024} KiB, nested at most 32 levels deep`,
    );
  }
  try {
    compileTemplate(transform, variables);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    const place = error.position && `line ${error.position.line}, column ${error.position.column}: `;
    const message = `${place ?? ""}${error.message}`;
    throw fail("INVALID_ARGUMENT", {
      public: `transform: ${message}`,
      violations: [{ field: "transform", rule: `cel.${error.kind}`, message }],
      cause: error,
    });
  }
}

/** The body that a template makes of an event. Throws TransformError if it fails. */
export function transformedBody(transform: Json, event: Event): string {
  try {
    return JSON.stringify(compileTemplate(transform, variables).evaluate({ event: cloudEventOf(event) }, { steps: 0 }));
  } catch (error) {
    if (error instanceof CelError) throw new TransformError(error.message, { cause: error });
    throw error;
  }
}
