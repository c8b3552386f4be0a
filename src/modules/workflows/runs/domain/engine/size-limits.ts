import type { Json } from "../../../definitions/index.ts";
import type { RunError } from "./state.ts";

/** The largest state of a run, as bytes of JSON. The whole state is written in every advance. */
export const stateBytesMax = 256 * 1024;

/** The largest input of a run, as characters of JSON. */
export const inputLengthMax = 128 * 1024;

/** The largest history of a run, as bytes of JSON. A replay reads the whole history at once. */
export const historyBytesMax = 16 * 1024 * 1024;

/** Size of a history entry besides its values. */
export const entryBytes = 100;

/** The size of a run, as an advance counts it. */
export class RunSize {
  /** Upper bound of the state's size, as counted so far. */
  heldBytes: number;
  /** Size of the values in new history entries. */
  recordedBytes = 0;
  /** Bytes that this advance has serialised to count sizes. */
  workBytes = 0;
  readonly #earlierBytes: number;

  constructor(heldBytes: number, earlierBytes: number) {
    this.heldBytes = heldBytes;
    this.#earlierBytes = earlierBytes;
  }

  /** The size of the history, with the new entries. */
  historyBytes(newEntries: number): number {
    return this.#earlierBytes + this.recordedBytes + newEntries * entryBytes;
  }
}

export function bytesOf(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value));
}

export const stateTooLargeMessage = `The values of the run exceed ${stateBytesMax / 1024} KiB as JSON.`;

/** The error of a run that holds too much data. */
export function stateTooLarge(): RunError {
  return { code: "state_too_large", message: stateTooLargeMessage, step: "", details: null };
}

/** The error of a run whose history is full. */
export function historyTooLarge(): RunError {
  const message = `The outputs in the history of the run exceed ${historyBytesMax / 1024 / 1024} MiB as JSON.`;
  return { code: "state_too_large", message, step: "", details: null };
}
