/**
 * Secrets: values that callers can set and use but never read back.
 *
 * Sealed: encrypted and bound to one tenant, record and field. Active key: the master key that encrypts; retired keys only
 * decrypt. Re-encryption: encrypting values of retired keys with the active key.
 */

import type { Reencryptable } from "../../../platform/crypto/index.ts";
import type { PlatformServices } from "../../area.ts";
import { secretHandlers } from "./handler.ts";
import { createRotation } from "./jobs.ts";
import { createSecretService, type SecretParts } from "./service.ts";

interface Dependencies extends Pick<PlatformServices, "db">, SecretParts {
  /** The tenant that instance-wide jobs run under. */
  readonly platformTenantId: () => string;
  /** Tables of other modules that are encrypted with the same keys. */
  readonly otherTables?: readonly Reencryptable[];
}

/** The module's public API. */
export type Secrets = ReturnType<typeof createSecrets>;

export function createSecrets({ db, platformTenantId, otherTables = [], ...parts }: Dependencies) {
  const service = createSecretService(parts);
  return {
    handlers: secretHandlers(service),
    /** Reads a secret with its value, by name or id; undefined if the tenant does not have it. */
    read: service.read,
    ...createRotation({ sql: db.sql, keyring: parts.keyring, platformTenantId, otherTables }),
  };
}
