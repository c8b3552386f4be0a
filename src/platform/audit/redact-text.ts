import { isIPv6 } from "node:net";

// Every repetition below is bounded or cannot backtrack, so the time is linear in the length of the text.

// Most texts are ids or names that contain none of these, so a single test replaces eight patterns.
const suspicious = /sk|pk|rk|whsec|xox|gh|glpat|bearer|basic|eyJ|AKIA|ASIA|:\/\/|pass|secret|token|key|BEGIN/i;
const prefixedKey = /(?<![A-Za-z0-9])(sk|pk|rk|whsec|xox[abprs]|gh[opusr]|glpat)([_-])([A-Za-z0-9_+/=-]{8,})/g;
const awsKey = /(?<![A-Za-z0-9])(AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g;
const ownKey = /^([a-z]{1,16}_[A-Za-z0-9]{1,64}_)./;
const bearer = /\b(bearer\s{1,8})[A-Za-z0-9._~+/=-]{8,}/gi;
const basic = /\b(basic\s{1,8})[A-Za-z0-9+/=]{16,}/gi;
const jwt = /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*/g;
const urlPassword = /(:\/\/[^\s:/@]{0,256}):[^\s/@]{1,256}@/g;
const assigned =
  /\b(password|passwd|secret|client_secret|(?:(?:access|refresh|id|session)_)?token|x-api-key|api[_-]?key)(\s?[=:]\s?)[^\s&;,"']+/gi;
const privateKey = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g;

/** Redacts credentials in a text: API keys, bearer tokens, JWTs, private keys, passwords in URLs and queries. */
export function redactSecrets(text: string): string {
  if (text.length < 8 || !suspicious.test(text)) return text;
  return (
    text
      .replace(privateKey, "[redacted private key]")
      // The id in API keys of this service, `sk_<env>_<key id>_<secret>`, is retained to identify the key.
      .replace(prefixedKey, (_, prefix: string, mark: string, rest: string) => {
        return `${prefix}${mark}${(prefix === "sk" && ownKey.exec(rest)?.[1]) || ""}[redacted]`;
      })
      .replace(awsKey, "$1[redacted]")
      .replace(jwt, "[redacted token]")
      .replace(bearer, "$1[redacted]")
      .replace(basic, "$1[redacted]")
      .replace(urlPassword, "$1:[redacted]@")
      .replace(assigned, (all: string, name: string, sign: string) =>
        all.includes("[redacted") ? all : `${name}${sign}[redacted]`,
      )
  );
}

const email = /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}.-]{1,190}\.\p{L}{2,24}/gu;
const ipv4 = /(?<![\d.])(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}(?!\d|\.\d)/g;
const ipv6 = /(?<![\w:.])[0-9a-f]{0,4}:[0-9a-f:.]{1,45}(?![\w:])/gi;
// With a plus and a country code, or grouped as 3-3-4. Other sequences of digits are usually ids or amounts.
const phone = /(?<![\w.+-])(?:\+\d(?:[ ().-]{0,2}\d){6,14}|\(?\d{3}\)?[ .-]{1,2}\d{3}[ .-]\d{4})(?![\w-])/g;

/** Redacts personal data in a text: email addresses, phone numbers, and the host part of IP addresses. */
export function redactPersonal(text: string): string {
  if (text.length < 3) return text;
  // Each pattern requires a character that most texts do not contain, and is applied only if it is present.
  let result = text;
  if (result.includes("@")) result = result.replace(email, "[email]");
  if (/\+\d|\d{3}/.test(result)) result = result.replace(phone, "[phone]");
  if (result.includes(":")) result = result.replace(ipv6, maskIfIpv6);
  if (result.includes(".")) result = result.replace(ipv4, "$1.x");
  return result;
}

/** Whether a text contains a credential that would be redacted. */
export function containsCredential(text: string): boolean {
  return redactSecrets(text) !== text;
}

/** Whether a text contains personal data that would be redacted. */
export function containsPersonalData(text: string): boolean {
  return redactPersonal(text) !== text;
}

function maskIfIpv6(found: string): string {
  const address = found.replace(/(?<!:):$|\.$/, "");
  return isIPv6(address) ? maskIpv6(address) + found.slice(address.length) : found;
}

// The first 48 bits identify a network; the rest can identify a household or machine.
function maskIpv6(address: string): string {
  // An embedded IPv4 address is masked by the IPv4 pattern, which is applied next.
  if (address.includes(".")) return address;
  const [front = "", back] = address.split("::", 2);
  const groups = front === "" ? [] : front.split(":");
  if (back !== undefined) {
    const tail = back === "" ? [] : back.split(":");
    while (groups.length + tail.length < 8) groups.push("0");
    groups.push(...tail);
  }
  return `${groups.slice(0, 3).join(":")}::x`;
}
