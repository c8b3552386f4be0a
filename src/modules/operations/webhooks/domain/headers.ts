import { invalid } from "../../../../errors/index.ts";
import { isHeaderName, isHeaderValue } from "../../../../platform/text/index.ts";
import type { Headers } from "./endpoint.ts";

const headersMax = 20;
const valueLengthMax = 4096;

/** Headers that the service sets itself, and those that control the connection. */
const reserved =
  /^(webhook-.*|content-type|content-length|user-agent|host|connection|transfer-encoding|upgrade|expect|te|trailer|keep-alive|proxy-.*)$/;

/** Throws INVALID_ARGUMENT if headers cannot be sent. Returns them with names in lower case. */
export function checkHeaders(headers: Headers): Headers {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  if (entries.length > headersMax) throw invalid("headers", "max_pairs", `must have at most ${headersMax} entries`);
  for (const [name, value] of entries) {
    if (!isHeaderName(name)) throw invalid("headers", "header_name", `"${name}" is not a valid header name`);
    if (reserved.test(name)) throw invalid(`headers.${name}`, "reserved", "is set by the service");
    if (value.length > valueLengthMax || !isHeaderValue(value)) {
      const rule = `must be text without line breaks and at most ${valueLengthMax} characters long`;
      throw invalid(`headers.${name}`, "header_value", rule);
    }
  }
  const checked = Object.fromEntries(entries);
  if (Object.keys(checked).length < entries.length) {
    throw invalid("headers", "unique", "must not have a name twice; names are not case-sensitive");
  }
  return checked;
}
