import { isIPv6 } from "node:net";

/** The well-known string formats, as protovalidate defines them. */

// The definition of HTML's email input fields.
const email =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

// RFC 3986, with the names of its grammar. Repeated parts never overlap, so matching takes linear time.
const unreserved = "A-Za-z0-9\\-._~";
const subDelims = "!$&'()*+,;=";
const pctEncoded = "%[0-9A-Fa-f]{2}";
const pchar = `(?:[${unreserved}${subDelims}:@]|${pctEncoded})`;
const regName = `(?:[${unreserved}${subDelims}]|${pctEncoded})*`;
const userinfo = `(?:[${unreserved}${subDelims}:]|${pctEncoded})*`;
const ipvFuture = `v[0-9A-Fa-f]+\\.[${unreserved}${subDelims}:]+`;
const ipv6WithZone = `(?<ipv6>[0-9A-Fa-f:]+)(?:%25(?:[${unreserved}]|${pctEncoded})+)?`;
const authority = `(?:${userinfo}@)?(?<host>\\[(?:${ipv6WithZone}|${ipvFuture})\\]|${regName})(?::\\d*)?`;
const hierPart = `(?://${authority}(?:/${pchar}*)*|/(?:${pchar}+(?:/${pchar}*)*)?|${pchar}+(?:/${pchar}*)*|)`;
const queryOrFragment = `(?:${pchar}|[/?])*`;
const uri = new RegExp(`^[A-Za-z][A-Za-z0-9+\\-.]*:${hierPart}(?:\\?${queryOrFragment})?(?:#${queryOrFragment})?$`);

/** Whether text is an email address. */
export function isEmail(text: string): boolean {
  return email.test(text);
}

/** Whether text is an absolute URI according to RFC 3986. */
export function isUri(text: string): boolean {
  const match = uri.exec(text);
  if (match === null) return false;
  const { host, ipv6 } = match.groups as { host?: string; ipv6?: string };
  if (ipv6 !== undefined && !isIPv6(ipv6)) return false;
  return host === undefined || !host.includes("%") || isPctEncodedUtf8(host);
}

function isPctEncodedUtf8(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
