import { invalid } from "../../errors/index.ts";
import { parseForm } from "../../platform/text/index.ts";
import { type Exchange, headerOf, readBody } from "../exchange.ts";

/** A SAML response with a large number of groups is the largest form. */
const formBytesMax = 256 * 1024;

/** Reads the form of a POST request; other requests have an empty one. */
export async function readForm(exchange: Exchange): Promise<URLSearchParams> {
  if (exchange.request.method !== "POST") return new URLSearchParams();
  const type = headerOf(exchange.request, "content-type") ?? "";
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type)) {
    throw invalid("Content-Type", "content_type", "must be application/x-www-form-urlencoded");
  }
  const body = await readBody({ ...exchange, bodyBytesMax: Math.min(exchange.bodyBytesMax, formBytesMax) });
  const members = parseForm(body.toString("utf8"));
  if (members === undefined) throw invalid("body", "max_items", "must not have so many members");
  return new URLSearchParams(members);
}
