import type { Binding, Keyring } from "./keyring.ts";

/** A value that was sealed by a key other than the active one. */
export interface StaleValue {
  readonly tenantId: string;
  readonly id: string;
  readonly ciphertext: string;
}

/** A stale value with its new ciphertext. */
export interface Replacement extends StaleValue {
  readonly replacement: string;
}

/** A table of sealed values, identified by tenant and id. */
export interface Reencryptable {
  /** The name of the table. */
  readonly table: string;
  /** Returns the next rows that another key sealed, in the order of (tenant, id). */
  next(activeKeyId: string, after: StaleValue | undefined, limit: number): Promise<readonly StaleValue[]>;
  /** Replaces, in one statement, the ciphertexts that have not changed since they were read; returns their number. */
  replace(activeKeyId: string, replacements: readonly Replacement[]): Promise<number>;
  bindingOf(value: StaleValue): Binding;
}

/** The result of a re-encryption. */
export interface Reencryption {
  readonly reencrypted: number;
  /** Values that no key of the keyring opens. They stay unchanged. */
  readonly unreadable: number;
}

const rowsAtOnce = 200;

/**
 * Re-encrypts all values with the active key. It is safe while the service runs and on several nodes concurrently:
 * a value that changes meanwhile is never overwritten, and one that cannot be opened does not block the rest.
 */
export async function reencrypt(keyring: Keyring, table: Reencryptable, signal: AbortSignal): Promise<Reencryption> {
  const { activeKeyId } = keyring;
  let reencrypted = 0;
  let unreadable = 0;
  for (let after: StaleValue | undefined; ; ) {
    signal.throwIfAborted();
    const stale = await table.next(activeKeyId, after, rowsAtOnce);
    const replacements = stale.flatMap((value) => reseal(keyring, value, table.bindingOf(value)));
    if (replacements.length > 0) reencrypted += await table.replace(activeKeyId, replacements);
    unreadable += stale.length - replacements.length;
    if (stale.length < rowsAtOnce) return { reencrypted, unreadable };
    after = stale.at(-1);
  }
}

function reseal(keyring: Keyring, value: StaleValue, binding: Binding): Replacement[] {
  try {
    return [{ ...value, replacement: keyring.seal(keyring.open(value.ciphertext, binding), binding) }];
  } catch {
    return [];
  }
}
