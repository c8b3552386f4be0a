const special = /[&<>"'`]/;
const specials = /[&<>"'`]/g;
const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

/** Text as it stands in HTML, in elements and in quoted attributes. */
export function escapeHtml(text: string): string {
  return special.test(text) ? text.replace(specials, (character) => entities[character]!) : text;
}
