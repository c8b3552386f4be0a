import { ulid } from "../../platform/ids/ulid.ts";
import type { Interceptor } from "../call.ts";

const acceptable = /^[A-Za-z0-9._:-]{1,128}$/;

/** The id of a request: the caller's own when it sends a usable one. */
export function requestIdFrom(header: string | undefined): string {
  return header !== undefined && acceptable.test(header) ? header : ulid(Date.now());
}

/** Step 3: every call has an id. */
export function requestId(): Interceptor {
  return (call, next) => {
    call.requestId = requestIdFrom(call.header("x-request-id"));
    call.responseHeaders["x-request-id"] = call.requestId;
    return next(call);
  };
}
