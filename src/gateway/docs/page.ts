export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** Converts a line of text to HTML: backticks become code, double asterisks become strong. */
export function prose(text: string): string {
  return escapeHtml(text)
    .replace(/`([^`]+)`/g, "<code>$1</code>")
    .replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>");
}

/** Converts paragraphs and lists ("- ") to HTML. */
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

/** Renders an HTTP method as a coloured label. */
export function badge(verb: string): string {
  return `<span class="verb ${verb.toLowerCase()}">${verb}</span>`;
}

/** The content of a page. */
interface Page {
  readonly title: string;
  /** The relative path to the root of the instance: "./", "../". Pages also work below a proxy's path prefix. */
  readonly root: string;
  /** The body as HTML. */
  readonly main: string;
}

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

export function renderOutbox(root: string): string {
  return renderPage({
    title: "Outbox",
    root,
    main: `<main class="page wide outbox">
<h1>Outbox</h1>
<p class="lead">Messages without an integration, or with the development provider, are stored here instead of being sent.</p>
<noscript><p>Turn on JavaScript to read the messages here, or list them with <code>service outbox list</code>.</p></noscript>
<form id="key-form" class="key" hidden><label>API key <input name="key" type="password" autocomplete="off" required></label> <button>Show</button></form>
<p><label>Channel <select id="channel"><option value="">all</option><option>email</option><option>sms</option><option>push</option><option>chat</option></select></label> <span id="status" class="quiet" role="status"></span></p>
<div id="messages"></div>
</main>
<script src="${root}docs/outbox.js"></script>`,
  });
}
