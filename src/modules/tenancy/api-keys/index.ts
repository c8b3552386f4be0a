/**
 * API keys: how programs call.
 *
 * key: `sk_<env>_<key id>_<secret>`. prefix: the part before the secret, by which a key is looked up.
 * verifier: tells whose a presented key is, from memory for most calls.
 */
import type { Clock } from "../../../platform/clock/clock.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import type { Database } from "../../../platform/db/index.ts";
import type { Log } from "../../../platform/log/log.ts";
import { apiKeyHandlers } from "./handler.ts";
import { type ApiKeyParts, createApiKeyService } from "./service.ts";
import { createApiKeyVerifier } from "./verifier.ts";

export { newKeyText } from "./service.ts";
export type { ApiKeyVerifier } from "./verifier.ts";

interface Parts extends ApiKeyParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly cursors: Cursors;
  readonly log: Log;
}

/** The door of the module. */
export type ApiKeys = ReturnType<typeof createApiKeys>;

/** Makes the module. */
export function createApiKeys({ db, clock, cursors, log, ...parts }: Parts) {
  const service = createApiKeyService(parts);
  const verifier = createApiKeyVerifier({ sql: db.sql, changes: parts.changes, clock, log });
  return {
    handlers: apiKeyHandlers(service, verifier, cursors),
    verifier,
    issue: service.issue,
    keep: service.keep,
  };
}
