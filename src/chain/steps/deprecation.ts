import type { Interceptor } from "../call.ts";

/** Step 8: adds the deprecation headers to calls of deprecated operations and counts those calls. */
export function deprecation(
  sunsetDates: Readonly<Record<string, string>>,
  observe: (operation: string) => void,
): Interceptor {
  return (call, next) => {
    const { deprecation: deprecated } = call.operation.governance;
    if (deprecated !== undefined) {
      const { id } = call.operation;
      observe(id);
      call.responseHeaders.deprecation = "true";
      const sunset = sunsetDates[id];
      if (sunset !== undefined) call.responseHeaders.sunset = new Date(sunset).toUTCString();
      if (deprecated.successor !== "") call.responseHeaders.link = `<${deprecated.successor}>; rel="successor-version"`;
    }
    return next(call);
  };
}
