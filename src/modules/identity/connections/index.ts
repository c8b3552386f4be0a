/**
 * Connections: identity providers that sign people of a tenant in.
 *
 * Connection: the settings of one provider. Account: a person at a provider, who is a member here. Attempt: a sign-in that a
 * browser has started. Just in time: to create the member at the first sign-in. Group roles: the roles of a provider's group.
 */

import type { TenantId } from "../../../platform/access/index.ts";
import { retentionJob } from "../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../area.ts";
import { connectionUrls } from "./connection-urls.ts";
import type { SsoConnection } from "./domain/connection.ts";
import { ssoHandlers } from "./handler.ts";
import { type ConnectionParts, createConnectionService } from "./service.ts";
import { groupRoleStore } from "./store.ts";

export { type ConnectionUrls, connectionUrls } from "./connection-urls.ts";
export type { ExternalPerson, OidcConnection, SamlConnection, SsoConnection } from "./domain/connection.ts";
export { createMemberFinder, type MemberFinder, maySignIn, type SignInRefusal } from "./sign-in.ts";
export { attemptStore, bindingOf, connectionStore, reencryptableConnections, type SignInAttempt } from "./store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock">, ConnectionParts {
  readonly publicUrl: () => string;
  readonly platformTenantId: () => string;
}

export function createConnections(dependencies: Dependencies) {
  const { db, publicUrl } = dependencies;
  const service = createConnectionService(dependencies);
  const urlsOf = (connection: SsoConnection) => connectionUrls(connection, publicUrl());
  return {
    handlers: ssoHandlers(service, urlsOf),
    jobs: [
      retentionJob(dependencies, {
        ...{ kind: "identity.delete_expired_attempts", everyMs: 60_000, batchSize: 1000 },
        rows: [{ table: "sso_attempts", column: "expires_at" }],
      }),
    ],
    rolesOfGroups: (tenantId: TenantId, groups: readonly string[]) => groupRoleStore(db.sql).rolesOf(tenantId, groups),
  };
}
