type Data = Readonly<Record<string, unknown>>;

/** The headers that the data of a mail asks for, by name. */
export function mailHeaders(data: Data): Record<string, string> {
  return { ...ownHeaders(data), ...unsubscribeHeaders(data) };
}

/** Replaces line breaks and control characters, so that a text stays within its header. */
export function toOneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
}

/** The headers in the message's data. Their names were checked when the content was stored; their texts were templates. */
function ownHeaders({ headers }: Data): Record<string, string> {
  if (typeof headers !== "object" || headers === null) return {};
  const texts = Object.entries(headers).map(([name, text]) => [name, toOneLine(String(text))] as const);
  return Object.fromEntries(texts.filter(([, text]) => text !== ""));
}

/** The List-Unsubscribe headers from the message's data: a URL, and whether it supports one-click (RFC 8058). */
function unsubscribeHeaders(data: Data): Record<string, string> {
  const { list_unsubscribe: url, list_unsubscribe_one_click: oneClick } = data;
  if (typeof url !== "string" || !/^(https:\/\/|mailto:)[\x21-\x3b\x3d\x3f-\x7e]{1,1000}$/.test(url)) return {};
  return {
    "List-Unsubscribe": `<${url}>`,
    ...(oneClick === true && url.startsWith("https:") && { "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }),
  };
}
