import type { Binding, Keyring } from "./keyring.ts";

/** A value that a key other than the active one sealed. */
export interface StaleValue {
  readonly tenantId: string;
  readonly id: string;
  readonly ciphertext: string;
}

/** A stale value, and the same sealed anew. */
export interface Replacement extends StaleValue {
  readonly replacement: string;
}

/** A table of sealed values, each row known by tenant and id. */
export interface Reencryptable {
  /** The next rows that another key than this one sealed, in the order of (tenant, id). */
  next(activeKeyId: string, after: StaleValue | undefined, limit: number): Promise<readonly StaleValue[]>;
  /** Replaces, in one statement, those ciphertexts that are still the ones that were read; answers with how many. */
  replace(activeKeyId: string, replacements: readonly Replacement[]): Promise<number>;
  bindingOf(value: StaleValue): Binding;
}

/** What came of a re-encryption. */
export interface Reencryption {
  readonly reencrypted: number;
  /** Values that no key of the keyring opens; they stay as they are. */
  readonly unreadable: number;
}

const rowsAtOnce = 200;

/**
 * Seals with the active key what others sealed, while the service runs and on as many nodes as like to:
 * a value that changes meanwhile is never overwritten, and one that cannot be opened does not hold up the rest.
 */
export async function reencrypt(keyring: Keyring, table: Reencryptable, signal: AbortSignal): Promise<Reencryption> {
  const { activeKeyId } = keyring;
  let reencrypted = 0;
  let unreadable = 0;
  for (let after: StaleValue | undefined; ; ) {
    signal.throwIfAborted();
    const stale = await table.next(activeKeyId, after, rowsAtOnce);
    const replacements = stale.flatMap((value) => sealAnew(keyring, value, table.bindingOf(value)));
    if (replacements.length > 0) reencrypted += await table.replace(activeKeyId, replacements);
    unreadable += stale.length - replacements.length;
    if (stale.length < rowsAtOnce) return { reencrypted, unreadable };
    after = stale.at(-1);
  }
}

function sealAnew(keyring: Keyring, value: StaleValue, binding: Binding): Replacement[] {
  try {
    return [{ ...value, replacement: keyring.seal(keyring.open(value.ciphertext, binding), binding) }];
  } catch {
    return [];
  }
}
