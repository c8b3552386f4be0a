import { type CurrentSession, createBrowserSessionService } from "@client/gen/browser-session";
import { createTenantService } from "@client/gen/tenant";
import { signal } from "@preact/signals";
import { transport } from "./transport";

/** Who is signed in, and to which tenant. */
export interface Session extends CurrentSession {
  readonly tenantName: string;
}

/** The session of the browser; undefined until it is loaded. */
export const session = signal<Session | undefined>(undefined);

/** Resources that a general permission to read does not cover. */
const guardedResources = new Set(["secret"]);

/**
 * Whether the caller may do something, such as `pool:write`, or one of several things, separated by spaces. Controls that would
 * be refused are not shown.
 */
export function can(wanted: string): boolean {
  return wanted.split(" ").some(hasScope);
}

function hasScope(scope: string): boolean {
  const scopes = session.value?.scopes ?? [];
  if (scopes.includes(scope) || scopes.includes("*:*")) return true;
  const [resource = "", action = ""] = scope.split(":");
  if (scopes.includes(`${resource}:*`)) return true;
  return !guardedResources.has(resource) && scopes.includes(`*:${action}`);
}

export async function loadSession(): Promise<void> {
  const current = await createBrowserSessionService(transport).getCurrentSession();
  const tenant = await createTenantService(transport)
    .get({ tenant_id: current.tenant_id })
    .catch(() => undefined);
  session.value = { ...current, tenantName: tenant?.name ?? "" };
}
