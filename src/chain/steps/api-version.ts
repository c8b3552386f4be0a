import { invalid } from "../../errors/index.ts";
import type { Interceptor } from "../call.ts";

/** The version of the API that is served, and the oldest that is still spoken. */
export const currentVersion = "2024-01-01";
const minimumVersion = "2024-01-01";

/** Step 4: the version that the caller asks for is one that is spoken here; it is echoed on success. */
export function apiVersion(): Interceptor {
  return async (call, next) => {
    const asked = call.header("api-version");
    call.apiVersion = asked === undefined ? currentVersion : negotiate(asked);
    const answer = await next(call);
    call.responseHeaders["api-version"] = call.apiVersion;
    return answer;
  };
}

function negotiate(asked: string): string {
  if (!isDate(asked)) {
    throw invalid("Api-Version", "api_version", "must be a date such as 2024-01-01");
  }
  if (asked < minimumVersion) {
    throw invalid("Api-Version", "api_version", `is older than ${minimumVersion}, the oldest that is spoken`);
  }
  // A later date asks for the newest version up to it.
  return asked > currentVersion ? currentVersion : asked;
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  // Date makes the 30th of February a day in March.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
