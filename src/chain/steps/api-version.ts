import { headerCorrection, invalid } from "../../errors/index.ts";
import type { Interceptor } from "../call.ts";

export const currentVersion = "2024-01-01";
const minimumVersion = "2024-01-01";

/** Step 4: negotiates the API version and echoes it on success. */
export function apiVersion(): Interceptor {
  return async (call, next) => {
    const requested = call.header("api-version");
    call.apiVersion = requested === undefined ? currentVersion : negotiate(requested);
    const response = await next(call);
    call.responseHeaders["api-version"] = call.apiVersion;
    return response;
  };
}

function negotiate(requested: string): string {
  const refuse = (message: string) =>
    invalid("Api-Version", "api_version", message, {
      corrections: [headerCorrection("Api-Version", currentVersion, "likely")],
    });
  if (!isDate(requested)) throw refuse("must be a date in the form YYYY-MM-DD (for example: 2024-01-01)");
  if (requested < minimumVersion) throw refuse(`must be ${minimumVersion} or later; older versions are not supported`);
  // A later date selects the newest version up to it.
  return requested > currentVersion ? currentVersion : requested;
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  // Date accepts 30 February and turns it into a day in March.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
