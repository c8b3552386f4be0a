import { randomUUID } from "node:crypto";
import type { Interceptor } from "../call.ts";

const acceptable = /^[A-Za-z0-9._:-]{1,128}$/;

/** Returns the caller's request id if it is valid, or a new one. */
export function requestIdFrom(header: string | undefined): string {
  return header !== undefined && acceptable.test(header) ? header : randomUUID();
}

/** Step 3: gives every call an id. */
export function requestId(): Interceptor {
  return (call, next) => {
    call.requestId = requestIdFrom(call.header("x-request-id"));
    call.responseHeaders["x-request-id"] = call.requestId;
    return next(call);
  };
}
