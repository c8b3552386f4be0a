import { isHeaderName } from "../../../../platform/text/index.ts";

/** Headers that the service or the mail server writes. A template must not replace them. */
const reserved =
  /^(?:from|sender|to|cc|bcc|subject|date|message-id|return-path|received|mime-version|content-.*|dkim-.*|arc-.*|authentication-results|list-unsubscribe(?:-post)?)$/i;

const headersMax = 20;

/** The reason why a value cannot be the headers of a mail, with the path of the header; undefined when it can. */
export function mailHeadersProblem(value: unknown): { readonly path: string; readonly message: string } | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { path: "", message: "must be an object of header names and texts" };
  }
  const entries = Object.entries(value);
  if (entries.length > headersMax) return { path: "", message: `must have at most ${headersMax} headers` };
  for (const [name, text] of entries) {
    if (!isHeaderName(name)) return { path: name, message: "must be the name of a header, such as X-Campaign" };
    if (reserved.test(name)) return { path: name, message: "is written by the service and cannot be set" };
    if (typeof text !== "string") return { path: name, message: "must be a text" };
  }
  return undefined;
}
