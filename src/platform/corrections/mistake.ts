import type { FindRepair, PatchStep, Violation } from "../../errors/index.ts";
import type { Place } from "./place.ts";

/** A violation with its place in the request. */
export interface Mistake {
  readonly place: Place;
  readonly violation: Violation;
  /** The naming of fields to write: as in the definition, or in lowerCamel. */
  readonly naming: "proto" | "json";
  /** Whether the operation only reads. */
  readonly isReading: boolean;
  /** Repairs what only its reader understands. */
  readonly repair: FindRepair | undefined;
  /** Names that members have besides those of fields. */
  readonly otherNames: readonly string[];
}

/** What would correct a mistake. */
export interface Change {
  readonly steps: readonly PatchStep[];
  /** The corrected value, if the steps do not only move or remove. */
  readonly value?: unknown;
  readonly confidence: "certain" | "likely";
  /** The path of the corrected value, as violations write it, if it is not that of the mistake. */
  readonly target?: string;
}

/** Finds the change for one kind of mistake; undefined if the mistake is of another kind. */
export type FindChange = (mistake: Mistake) => Change | undefined;

/** Replaces the value. A member that was not sent, or may not have been, is added. */
export function toValue({ place }: Mistake, value: unknown, confidence: Change["confidence"], target?: string): Change {
  // A value that a message has by default may not have been sent.
  const isSent = place.isItem || !isDefault(place.value);
  const op = isSent ? "replace" : "add";
  return {
    ...{ steps: [{ op, path: place.pointer, value }], value, confidence },
    ...(target !== undefined && { target }),
  };
}

function isDefault(value: unknown): boolean {
  return value === undefined || value === "" || value === 0 || value === "0" || value === false;
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
