const entities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&#x27;": "'",
  "&nbsp;": " ",
};

/** Converts an HTML mail to plain text, keeping its text, links and line breaks. */
export function plainText(html: string): string {
  return withoutTags(html)
    .replace(/&(?:amp|lt|gt|quot|#39|#x27|nbsp);/g, (entity) => entities[entity]!)
    .replace(/[ \t]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

const invisible = new Set(["script", "style", "head", "title"]);
const breaking = new Set(["br", "p", "div", "tr", "li", "h1", "h2", "h3", "h4", "h5", "h6", "table", "ul", "ol"]);

/** Removes tags in a single pass, so the run time is linear in the input. */
function withoutTags(html: string): string {
  let text = "";
  let at = 0;
  let hiddenBy = "";
  let href = "";
  while (at < html.length) {
    const open = html.indexOf("<", at);
    if (open === -1) break;
    if (hiddenBy === "") text += html.slice(at, open);
    const close = html.indexOf(">", open);
    if (close === -1) return text;
    const tag = html.slice(open + 1, close);
    const isEnd = tag.startsWith("/");
    const name = /^\/?([a-z0-9]*)/i.exec(tag)![1]!.toLowerCase();
    if (hiddenBy !== "") {
      if (isEnd && name === hiddenBy) hiddenBy = "";
    } else if (invisible.has(name) && !isEnd && !tag.endsWith("/")) {
      hiddenBy = name;
    } else if (name === "a") {
      if (isEnd && href !== "") text += ` (${href})`;
      href = isEnd ? "" : (/\bhref\s*=\s*["']?(https?:[^"'\s>]*)/i.exec(tag.slice(0, 2048))?.[1] ?? "");
    } else if (breaking.has(name)) {
      text += name === "li" && !isEnd ? "\n- " : "\n";
    }
    at = close + 1;
  }
  return hiddenBy === "" ? text + html.slice(at) : text;
}
