import { isIPv6 } from "node:net";

// Every repeat below is bounded or ends where it began: a hostile text costs time in proportion to its length.

// Nearly every text is an id or a name with none of this in it; one look spares it eight patterns.
const suspicious = /sk|pk|rk|whsec|xox|gh|glpat|bearer|basic|eyJ|:\/\/|pass|secret|token|key|BEGIN/i;
const prefixedKey = /(?<![A-Za-z0-9])(sk|pk|rk|whsec|xox[abprs]|gh[opusr]|glpat)([_-])([A-Za-z0-9_+/=-]{8,})/g;
const ownKey = /^([a-z]{1,16}_[A-Za-z0-9]{1,64}_)./;
const bearer = /\b(bearer\s{1,8})[A-Za-z0-9._~+/=-]{8,}/gi;
const basic = /\b(basic\s{1,8})[A-Za-z0-9+/=]{16,}/gi;
const jwt = /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*/g;
const urlPassword = /(:\/\/[^\s:/@]{0,256}):[^\s/@]{1,256}@/g;
const assigned =
  /\b(password|passwd|secret|client_secret|(?:(?:access|refresh|id|session)_)?token|x-api-key|api[_-]?key)(\s?[=:]\s?)[^\s&;,"']+/gi;
const privateKey = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g;

/** Takes credentials out of a text: API keys, bearer tokens, JWTs, private keys, passwords in URLs and queries. */
export function redactSecrets(text: string): string {
  if (text.length < 8 || !suspicious.test(text)) return text;
  return (
    text
      .replace(privateKey, "[redacted private key]")
      // Of our own keys, `sk_<env>_<key id>_<secret>`, the id stays: it tells an operator which one was used.
      .replace(prefixedKey, (_, prefix: string, mark: string, rest: string) => {
        return `${prefix}${mark}${(prefix === "sk" && ownKey.exec(rest)?.[1]) || ""}[redacted]`;
      })
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
// With a plus and a country code, or grouped as 3-3-4. Bare runs of digits are ids and amounts far more often.
const phone = /(?<![\w.+-])(?:\+\d(?:[ ().-]{0,2}\d){6,14}|\(?\d{3}\)?[ .-]{1,2}\d{3}[ .-]\d{4})(?![\w-])/g;

/** Takes out of a text what names a person: mail addresses, phone numbers, the part of an IP address that is one host's. */
export function redactPersonal(text: string): string {
  if (text.length < 3) return text;
  // Each pattern needs one character that most texts lack, and is tried only where that stands.
  let result = text;
  if (result.includes("@")) result = result.replace(email, "[email]");
  if (/\+\d|\d{3}/.test(result)) result = result.replace(phone, "[phone]");
  if (result.includes(":")) result = result.replace(ipv6, maskIfIpv6);
  if (result.includes(".")) result = result.replace(ipv4, "$1.x");
  return result;
}

function maskIfIpv6(found: string): string {
  const address = found.replace(/(?<!:):$|\.$/, "");
  return isIPv6(address) ? maskIpv6(address) + found.slice(address.length) : found;
}

// The first 48 bits name a network; the rest can name one household or machine.
function maskIpv6(address: string): string {
  // An IPv4 address inside is masked by the IPv4 rule, which runs next.
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
