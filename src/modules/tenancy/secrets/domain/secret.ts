import type { TenantId } from "../../../../platform/access/index.ts";
import type { Binding } from "../../../../platform/crypto/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";

/** A secret's metadata, without its value. */
export interface Secret extends Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly name: string;
  /** Incremented by every new value. */
  readonly version: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The id of the master key that encrypts the value. */
  readonly keyId: string;
}

/** A secret with its sealed value. */
export interface SealedSecret extends Secret {
  readonly ciphertext: string;
}

export interface NewSecret {
  readonly name: string;
  readonly value: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The fields that an update can change. */
export interface SecretChange {
  readonly value?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** The binding of a secret's ciphertext: it cannot be decrypted for another tenant, record or field. */
export function bindingOf({ tenantId, id }: { tenantId: string; id: string }): Binding {
  return { tenantId, recordId: id, field: "secret.value" };
}
