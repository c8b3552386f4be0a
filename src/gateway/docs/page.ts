/** Makes text safe to stand in HTML. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** A line of text as HTML: names in backticks are code, words in double asterisks are strong. */
export function prose(text: string): string {
  return escapeHtml(text)
    .replace(/`([^`]+)`/g, "<code>$1</code>")
    .replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>");
}

/** Paragraphs and lists ("- ") as HTML. */
export function richText(text: string): string {
  return text
    .split("\n\n")
    .filter((block) => block !== "")
    .map((block) => {
      if (!block.startsWith("- ")) return `<p>${prose(block)}</p>`;
      const items = block.split(/^- /m).filter((item) => item !== "");
      return `<ul>\n${items.map((item) => `<li>${prose(item.trim())}</li>`).join("\n")}\n</ul>`;
    })
    .join("\n");
}

/** The verb of an operation as a coloured label. */
export function badge(verb: string): string {
  return `<span class="verb ${verb.toLowerCase()}">${verb}</span>`;
}

/** What a page is made of. */
interface Page {
  readonly title: string;
  /** The way from the page to the root of the instance: "./", "../". Pages also work below a proxy's prefix. */
  readonly root: string;
  /** The body, already HTML. */
  readonly main: string;
}

/** Lays out a page. */
export function renderPage({ title, root, main }: Page): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Switchyard</title>
<link rel="stylesheet" href="${root}docs/style.css">
<link rel="icon" type="image/svg+xml" href="${root}docs/favicon.svg">
</head>
<body>
<nav class="bar"><strong>Switchyard</strong><a href="${root}docs">Reference</a><a href="${root}errors">Errors</a><a href="${root}openapi.yaml">OpenAPI</a></nav>
${main}
</body>
</html>
`;
}

/** The page of what would have been sent. */
export function renderOutbox(root: string): string {
  return renderPage({
    title: "Outbox",
    root,
    main: `<main class="page wide outbox">
<h1>Outbox</h1>
<p class="lead">What no integration serves, or the development provider does, is kept here instead of being sent.</p>
<form id="asked" class="key" hidden><label>API key <input name="key" type="password" autocomplete="off" required></label> <button>Show</button></form>
<p><label>Channel <select id="channel"><option value="">all</option><option>email</option><option>sms</option><option>push</option><option>chat</option></select></label> <span id="status" class="quiet" role="status"></span></p>
<div id="messages"></div>
</main>
<script src="${root}docs/outbox.js"></script>`,
  });
}
