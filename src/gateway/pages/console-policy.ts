/** A document that loads nothing. */
export const ownOnly = "default-src 'none'; base-uri 'none'";

/**
 * The content security policy of the console: only files of this service, no inline script or style, and no text that becomes a
 * script. A page can name the hash of one inline style.
 */
export function consolePolicy(styleSource = ""): string {
  return [
    ownOnly,
    "script-src 'self'",
    `style-src 'self' ${styleSource}`.trimEnd(),
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");
}
