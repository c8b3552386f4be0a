import { ulid } from "../platform/ids/ulid.ts";
import type { Interceptor } from "./call.ts";

const acceptable = /^[A-Za-z0-9._:-]{1,128}$/;

/** Step 3: every call has an id, the caller's own when it sends a usable one. */
export function requestId(): Interceptor {
  return (call, next) => {
    const given = call.header("x-request-id");
    call.requestId = given !== undefined && acceptable.test(given) ? given : ulid(Date.now());
    call.responseHeaders["x-request-id"] = call.requestId;
    return next(call);
  };
}
