import { invalid } from "../../../../errors/index.ts";

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Checks an origin that pages are compared with exactly: scheme, host and port, as browsers write it. */
export function checkOrigin(field: string, text: string): void {
  const url = URL.parse(text);
  // Other characters are valid in host names of URLs, but have a meaning in a content security policy.
  if (url !== null && url.origin === text && isSecure(url) && /^([a-z0-9._-]+|\[[0-9a-f:.]+\])$/.test(url.hostname))
    return;
  throw invalid(
    field,
    "origin",
    "must be an origin as browsers write it, with https except for loopback hosts (for example: https://app.example.com)",
  );
}

/** Checks an address that end users are sent to. */
export function checkRedirectUri(field: string, text: string): void {
  const url = URL.parse(text);
  const isPlain = url !== null && url.username === "" && url.password === "" && !text.includes("#");
  if (isPlain && isSecure(url) && !/[\s\\]/.test(text)) return;
  throw invalid(
    field,
    "uri",
    "must be an absolute URL without a fragment, with https except for loopback hosts (for example: https://app.example.com/connected)",
  );
}

function isSecure({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || (protocol === "http:" && loopback.has(hostname));
}

/** Adds parameters to the query of an address. Existing ones with the same name are replaced. */
export function withQuery(address: string, parameters: Readonly<Record<string, string>>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}
