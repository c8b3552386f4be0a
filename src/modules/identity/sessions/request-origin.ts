import { fail } from "../../../errors/index.ts";

/** The header that scripts of the service's own pages send. Forms and links of other sites cannot set it. */
const sessionHeader = "x-switchyard-session";

const safeMethods = new Set(["GET", "HEAD"]);

interface BrowserRequest {
  readonly httpMethod: string;
  readonly header: (name: string) => string | undefined;
}

/**
 * Refuses requests with a session cookie that a page of another site may have caused. Browsers say where a request comes
 * from; without that, which is so on plain http, the origin decides. Requests that can change something also need a header
 * that only scripts of the same origin can set.
 */
export function requireOwnRequest(request: BrowserRequest, ownOrigin: string): void {
  const isSafe = safeMethods.has(request.httpMethod);
  const site = request.header("sec-fetch-site");
  const origin = request.header("origin");
  const isForeign =
    site === undefined
      ? origin === undefined
        ? !isSafe
        : origin !== ownOrigin
      : site !== "same-origin" && !(isSafe && site === "none");
  if (isForeign || (origin !== undefined && origin !== ownOrigin)) {
    throw fail("PERMISSION_DENIED", {
      public: "A browser session can be used only by pages of this service, not by those of another site.",
    });
  }
  if (!isSafe && request.header(sessionHeader) === undefined) {
    throw fail("PERMISSION_DENIED", {
      public: `A request with a browser session that can change something must have the header ${sessionHeader}: 1.`,
    });
  }
}

/** Whether a form was sent by a page of this service, as far as the browser says. */
export function isOwnForm({ header }: Pick<BrowserRequest, "header">, ownOrigin: string): boolean {
  const site = header("sec-fetch-site");
  if (site !== undefined) return site === "same-origin";
  // Browsers send "null" from pages with the referrer policy no-referrer.
  const origin = header("origin") ?? "null";
  return origin === "null" || origin === ownOrigin;
}
