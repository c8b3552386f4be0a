/**
 * Secrets: values that can be set and used, and never read back by callers.
 *
 * sealed: encrypted to one tenant, record and field. active key: the master key that seals; retired ones only open.
 * re-encryption: sealing anew, with the active key, what others sealed.
 */

import type { Reencryptable } from "../../../platform/crypto/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import type { Database } from "../../../platform/db/index.ts";
import { secretHandlers } from "./handler.ts";
import { createRotation } from "./jobs.ts";
import { createSecretService, type SecretParts } from "./service.ts";

interface Parts extends SecretParts {
  readonly db: Database;
  readonly cursors: Cursors;
  /** The tenant that instance-wide jobs run under. */
  readonly platformTenantId: () => string;
  /** Tables of other modules that are sealed with the same keys. */
  readonly furtherTables?: readonly Reencryptable[];
}

/** The door of the module. */
export type Secrets = ReturnType<typeof createSecrets>;

/** Makes the module. */
export function createSecrets({ db, cursors, platformTenantId, furtherTables = [], ...parts }: Parts) {
  const service = createSecretService(parts);
  return {
    handlers: secretHandlers(service, cursors),
    /** A secret with its value, by name or id; undefined when the tenant has none such. */
    read: service.read,
    ...createRotation({ sql: db.sql, keyring: parts.keyring, platformTenantId, furtherTables }),
  };
}
