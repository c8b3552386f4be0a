import type { Context } from "../../../../chain/call.ts";
import { fail } from "../../../../errors/index.ts";
import { type EnvironmentMode, isWithinMode } from "../../../../platform/access/index.ts";
import { notFound } from "../../../../platform/db/index.ts";
import type { Endpoint } from "../domain/endpoint.ts";

/** Returns an endpoint that exists and whose events the caller may see; throws otherwise. */
export function requireAccess({ principal }: Pick<Context, "principal">, endpoint: Endpoint | undefined): Endpoint {
  if (endpoint === undefined) throw notFound("webhook endpoint");
  requireMode({ principal }, endpoint.environmentMode);
  return endpoint;
}

/** Rejects an endpoint mode with events that the caller may not see. */
export function requireMode({ principal }: Pick<Context, "principal">, mode: EnvironmentMode): void {
  if (isWithinMode(mode, principal.environmentMode)) return;
  throw fail("PERMISSION_DENIED", {
    public: `The endpoint's environment_mode ${mode} exceeds the caller's own, which is ${principal.environmentMode}.`,
  });
}
