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
export interface Page {
  readonly title: string;
  /** The relative path to the root of the instance: "./", "../". Pages also work below a proxy's path prefix. */
  readonly root: string;
  /** The content of the page as HTML. */
  readonly main: string;
  /** The path of the page in the navigation, relative to the root. */
  readonly path?: string;
  /** The anchors of the page that the navigation shows below its entry. */
  readonly sections?: readonly { readonly id: string; readonly title: string }[];
}

/** Renders a page with the navigation of the reference. */
export type PageRenderer = (page: Page) => string;

/** Creates the renderer of all pages: with the navigation, which lists these services. */
export function createPageRenderer(services: readonly string[]): PageRenderer {
  const entries = services
    .map((name) => [`docs/services/${name}`, serviceTitle(name)] as const)
    .sort(([, a], [, b]) => a.localeCompare(b, "en"));

  function list(
    { root, path, sections = [] }: Page,
    items: readonly (readonly [path: string, title: string])[],
  ): string {
    const rows = items.map(([target, title]) => {
      if (target !== path) return `<li><a href="${root}${target}">${title}</a></li>`;
      const anchors = sections.map((each) => `<li><a href="#${each.id}">${escapeHtml(each.title)}</a></li>`);
      const below = anchors.length === 0 ? "" : `\n<ul>\n${anchors.join("\n")}\n</ul>`;
      return `<li><a href="${root}${target}" aria-current="page">${title}</a>${below}</li>`;
    });
    return `<ul>\n${rows.join("\n")}\n</ul>`;
  }

  return (page) => {
    const { title, root, main } = page;
    return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Switchyard</title>
<link rel="icon" type="image/svg+xml" href="${root}docs/favicon.svg">
<script src="${root}docs/theme.js"></script>
<link rel="stylesheet" href="${root}docs/reference.css">
<script type="module" fetchpriority="low" src="${root}docs/reference.js"></script>
</head>
<body>
<a class="skip button" href="#content">Skip to the content</a>
<header class="bar"><button class="button" type="button" popovertarget="contents">Contents</button><a href="${root}docs">Switchyard</a><a class="link" href="${root}console">Console</a></header>
<nav id="contents" class="contents" popover aria-label="Reference">
<a class="workspace" href="${root}docs">${logo}<span class="name">Switchyard<span class="product">Reference</span></span></a>
<div id="search" data-index="${root}docs/search.json" data-root="${root}" role="search" hidden>
<input class="input" type="search" placeholder="Search" aria-label="Search the reference" aria-keyshortcuts="/"> <kbd>/</kbd>
<ul id="found" aria-label="Found" hidden></ul>
</div>
<div class="nav">
${list(page, general)}
<h2>Services</h2>
${list(page, entries)}
</div>
<footer><a id="account" href="${root}console">Console</a> <button id="theme" class="button quiet small" type="button" hidden>Light or dark</button></footer>
</nav>
<main id="content" tabindex="-1">
${main}
</main>
</body>
</html>
`;
  };
}

/** The same as in the menu of the console. */
const logo = `<svg aria-hidden="true" class="logo" fill="none" stroke="currentColor" stroke-width="2" viewBox="0 0 24 24"><path d="M3 12h6c5 0 4-7 9-7h3M9 12c5 0 4 7 9 7h3M9 12h12" stroke-linecap="round"/></svg>`;

const general = [
  ["docs", "Overview"],
  ["docs/guides", "Guides"],
  ["errors", "Errors"],
  ["docs/events", "Events"],
  ["openapi.yaml", "OpenAPI"],
] as const;

/** Converts a service name to a title: PoolService to Pool, NotificationWorkflowService to Notification workflow. */
export function serviceTitle(name: string): string {
  const words = name.replace(/Service$/, "").match(/[A-Z][a-z0-9]*/g) ?? [name];
  const [first, ...rest] = words;
  return [first!.replace(/^(Api|Sso)$/, (word) => word.toUpperCase()), ...rest.map((word) => word.toLowerCase())].join(
    " ",
  );
}

/** Renders the page with messages that were stored instead of sent. */
export function renderOutbox(renderPage: PageRenderer, root: string): string {
  return renderPage({
    title: "Outbox",
    root,
    main: `<div class="outbox">
<h1>Outbox</h1>
<p class="lead">Messages without an integration, or with the development provider, are stored here instead of being sent.</p>
<noscript><p>Turn on JavaScript to read the messages here, or list them with <code>service outbox list</code>.</p></noscript>
<form id="key-form" class="key" hidden><label>API key <input class="input" name="key" type="password" autocomplete="off" required></label> <button class="button">Show</button></form>
<p><label>Channel <select id="channel" class="select"><option value="">all</option><option>email</option><option>sms</option><option>push</option><option>chat</option></select></label> <span id="status" class="soft" role="status"></span></p>
<div id="messages"></div>
</div>
<script src="${root}docs/outbox.js"></script>`,
  });
}
