import { type Failure, fail } from "../../errors/index.ts";

/** Why a value could not be sealed or opened. */
export type SealFailure = "malformed" | "unknown_key" | "rejected" | "bad_binding";

/** The cause of an INTERNAL failure of the keyring, for logs and control flow; it is never shown to callers. */
export class SealError extends Error {
  readonly fault: SealFailure;
  /** The key id in the ciphertext, if it could be parsed. */
  readonly keyId: string | undefined;

  constructor(fault: SealFailure, message: string, keyId?: string, cause?: unknown) {
    super(message, { cause });
    this.name = "SealError";
    this.fault = fault;
    this.keyId = keyId;
  }
}

/** Creates an INTERNAL failure with a SealError as cause, so that callers learn nothing about keys or records. */
export function sealFailure(fault: SealFailure, message: string, keyId?: string, cause?: unknown): Failure {
  return fail("INTERNAL", { cause: new SealError(fault, message, keyId, cause) });
}
