/**
 * API keys: credentials of programs.
 *
 * Key: `sk_<env>_<key id>_<secret>`. Prefix: the part before the secret, which identifies the key.
 * Owner: who is behind a key, at the start of the chain of keys that created keys. A key never has more than its owner has now.
 * Verifier: checks presented keys, from a cache for most calls.
 * Bootstrap key: an admin key whose text the operator sets in `auth.bootstrap_api_key`.
 */
import type { PlatformServices } from "../../area.ts";
import { apiKeyHandlers } from "./handler.ts";
import { type ApiKeyParts, createApiKeyService } from "./service.ts";
import { createApiKeyVerifier } from "./verifier.ts";

export { createKeyText, type NewApiKey } from "./service.ts";
export type { ApiKeyVerifier } from "./verifier.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "log">, ApiKeyParts {}

/** The module's public API. */
export type ApiKeys = ReturnType<typeof createApiKeys>;

export function createApiKeys({ db, clock, log, ...parts }: Dependencies) {
  const service = createApiKeyService(parts);
  const verifier = createApiKeyVerifier({ ...parts, sql: db.sql, clock, log });
  return {
    handlers: apiKeyHandlers(service, verifier),
    verifier,
    issue: service.issue,
    access: service.access,
    revokeOwnedBy: service.revokeOwnedBy,
    listOwnedBy: service.listOwnedBy,
    ensureBootstrapKey: service.ensureBootstrapKey,
  };
}
