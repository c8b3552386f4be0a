import { fail } from "../../errors/index.ts";
import { mayUseEnvironment, type Principal } from "./principal.ts";

/** Throws PERMISSION_DENIED if the caller may not use the environment with this key. */
export function requireEnvironmentAccess({ principal }: { readonly principal: Principal }, key: string): void {
  if (mayUseEnvironment(principal, key)) return;
  throw fail("PERMISSION_DENIED", { public: `The caller has no access to the environment ${key}.` });
}
