import type { TenantId } from "../../../../platform/access/index.ts";
import type { Binding } from "../../../../platform/crypto/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";

/** What is known of a secret, without its value. */
export interface Secret extends Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly name: string;
  /** Counts its values. */
  readonly version: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The id of the master key that protects it now. */
  readonly keyId: string;
}

/** A secret with its value, sealed. */
export interface SealedSecret extends Secret {
  readonly ciphertext: string;
}

/** What is asked for a new secret. */
export interface NewSecret {
  readonly name: string;
  readonly value: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** What an update may change. */
export interface SecretChange {
  readonly value?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** What a secret's ciphertext is bound to: it opens in no other tenant, record or field. */
export function bindingOf({ tenantId, id }: { tenantId: string; id: string }): Binding {
  return { tenantId, recordId: id, field: "secret.value" };
}
