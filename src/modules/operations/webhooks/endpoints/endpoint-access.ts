import type { Context } from "../../../../chain/call.ts";
import { fail } from "../../../../errors/index.ts";
import { type EnvironmentMode, isWithinMode } from "../../../../platform/access/index.ts";
import { notFound } from "../../../../platform/db/index.ts";
import type { Endpoint } from "../domain/endpoint.ts";

/** An endpoint that exists and whose events the caller may see; throws otherwise. */
export function accessible({ principal }: Pick<Context, "principal">, endpoint: Endpoint | undefined): Endpoint {
  if (endpoint === undefined) throw notFound("webhook endpoint");
  refuseMode({ principal }, endpoint.environmentMode);
  return endpoint;
}

/** Refuses endpoints that get events which the caller may not see. */
export function refuseMode({ principal }: Pick<Context, "principal">, mode: EnvironmentMode): void {
  if (isWithinMode(mode, principal.environmentMode)) return;
  throw fail("PERMISSION_DENIED", {
    public: `The endpoint's environment mode ${mode} allows more than the caller's own, ${principal.environmentMode}.`,
  });
}
