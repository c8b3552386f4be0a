import { type Failure, fail } from "../../errors/index.ts";

/** Why a sealed value could not be opened, or a value not be sealed. */
export type SealFault = "malformed" | "unknown_key" | "rejected" | "bad_binding";

/** The cause inside the INTERNAL failure of a seal: for logs and branches, never for callers. */
export class SealError extends Error {
  readonly fault: SealFault;
  /** The key id that the ciphertext names, once it could be read. */
  readonly keyId: string | undefined;

  constructor(fault: SealFault, message: string, keyId?: string, cause?: unknown) {
    super(message, { cause });
    this.name = "SealError";
    this.fault = fault;
    this.keyId = keyId;
  }
}

/** An INTERNAL failure with a SealError as its cause: callers learn nothing about keys or records. */
export function sealFailure(fault: SealFault, message: string, keyId?: string, cause?: unknown): Failure {
  return fail("INTERNAL", { cause: new SealError(fault, message, keyId, cause) });
}
