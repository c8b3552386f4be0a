/** Makes text safe to stand in HTML. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** What a page is made of. */
interface Page {
  readonly title: string;
  /** The way from the page to the root of the instance: "./", "../". Pages also work below a proxy's prefix. */
  readonly root: string;
  /** What stands in the head besides the shared parts. */
  readonly head?: string;
  /** The body, already HTML. */
  readonly main: string;
}

/** Lays out a page. */
export function renderPage({ title, root, head = "", main }: Page): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Switchyard</title>
${head}<link rel="stylesheet" href="${root}docs/style.css">
<link rel="icon" type="image/png" href="${root}docs/favicon-32x32.png">
</head>
<body>
<nav class="bar"><strong>Switchyard</strong><a href="${root}docs">Reference</a><a href="${root}errors">Errors</a><a href="${root}openapi.yaml">OpenAPI</a></nav>
${main}
</body>
</html>
`;
}

/** The page of the interactive reference. */
export function renderReference(root: string): string {
  return renderPage({
    title: "Reference",
    root,
    head: `<link rel="stylesheet" href="${root}docs/swagger-ui.css">\n`,
    main: `<main id="reference"><p class="quiet">The reference needs JavaScript; <a href="${root}openapi.yaml">the document itself</a> does not.</p></main>
<script src="${root}docs/swagger-ui-bundle.js"></script>
<script src="${root}docs/init.js"></script>`,
  });
}

/** The page of what would have been sent. */
export function renderOutbox(root: string): string {
  return renderPage({
    title: "Outbox",
    root,
    main: `<main class="page outbox">
<h1>Outbox</h1>
<p class="lead">What no integration serves, or the development provider does, is kept here instead of being sent.</p>
<form id="asked" hidden><label>API key <input name="key" type="password" autocomplete="off" required></label> <button>Show</button></form>
<p><label>Channel <select id="channel"><option value="">all</option><option>email</option><option>sms</option><option>push</option><option>chat</option></select></label> <span id="status" class="quiet" role="status"></span></p>
<div id="messages"></div>
</main>
<script src="${root}docs/outbox.js"></script>`,
  });
}
