import type { OpenApiDocument } from "../openapi/index.ts";
import { renderOperation } from "./operation-section.ts";
import { badge, escapeHtml, prose, renderPage, richText } from "./page.ts";
import type { PathOperation } from "./path-operation.ts";
import { collectTypes, renderSchemaTable, typeAnchor } from "./schema-table.ts";

/** The pages of the reference. */
export type Reference = ReturnType<typeof createReference>;

/** Creates the reference from the OpenAPI document. Pages are rendered on demand. */
export function createReference(document: OpenApiDocument) {
  const operations: PathOperation[] = Object.entries(document.paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => ({ verb: verb.toUpperCase(), path, operation })),
  );
  const byService = Map.groupBy(operations, ({ operation }) => operation.tags[0]!);

  return {
    /** Renders the page that lists every operation. */
    index(root: string): string {
      const sections = document.tags.map(({ name, description }) => {
        const rows = (byService.get(name) ?? []).map((each) => indexRow(root, name, each)).join("\n");
        return `<section class="service">
<h2><a href="${serviceHref(root, name)}">${titleOf(name)}</a></h2>
<p>${prose(firstParagraph(description))}</p>
<ul class="operations">
${rows}
</ul>
</section>`;
      });
      return renderPage({
        title: "Reference",
        root,
        main: `<main class="page wide reference">
<h1>Reference</h1>
${richText(String(document.info.description))}
${keyForm}
<p><input id="filter" type="search" placeholder="Find an operation: pool, /api/route, lease …" aria-label="Find an operation"></p>
${sections.join("\n")}
</main>
<script src="${root}docs/reference.js"></script>`,
      });
    },

    /** Renders the page of one service; undefined if the service does not exist. */
    service(name: string, root: string): string | undefined {
      const tag = document.tags.find((each) => each.name === name);
      if (tag === undefined) return undefined;
      const own = byService.get(name) ?? [];
      const entries = own.map(
        ({ verb, path, operation }) =>
          `<li>${badge(verb)} <a href="#${operation.operationId}">${escapeHtml(operation.summary)}</a> <code>${escapeHtml(path)}</code></li>`,
      );
      const types = collectTypes(document, own).map(
        ([type, schema]) => `<section class="type" id="${typeAnchor(type)}">
<h3>${escapeHtml(type)}</h3>
${schema.description === undefined ? "" : `<p>${prose(schema.description)}</p>`}
${renderSchemaTable(schema)}
</section>`,
      );
      return renderPage({
        title: titleOf(name),
        root,
        main: `<main class="page wide reference">
<p><a href="${root}docs">All services</a></p>
<h1>${titleOf(name)}</h1>
${richText(tag.description)}
<ul class="operations">
${entries.join("\n")}
</ul>
${keyForm}
${own.map((each) => renderOperation(document, each, root)).join("\n")}
<h2>Types</h2>
${types.join("\n")}
</main>
<script src="${root}docs/reference.js"></script>`,
      });
    },
  };
}

/** The form for the API key of the "Send" buttons. The script stores the key for the tab. */
const keyForm = `<form id="key-form" class="key"><label>API key <input name="key" type="password" autocomplete="off" placeholder="sk_…"></label> <button>Use</button> <span id="key-status" class="quiet" role="status"></span></form>`;

function indexRow(root: string, service: string, { verb, path, operation }: PathOperation): string {
  const search = `${verb} ${path} ${operation.summary} ${operation.operationId}`.toLowerCase();
  return `<li data-search="${escapeHtml(search)}">${badge(verb)} <a href="${serviceHref(root, service)}#${operation.operationId}">${escapeHtml(operation.summary)}</a> <code>${escapeHtml(path)}</code></li>`;
}

function serviceHref(root: string, name: string): string {
  return `${root}docs/services/${name}`;
}

/** Converts a service name to a title: PoolService to Pool, NotificationWorkflowService to Notification workflow. */
function titleOf(name: string): string {
  const words = name.replace(/Service$/, "").match(/[A-Z][a-z0-9]*/g) ?? [name];
  return [words[0]!, ...words.slice(1).map((word) => word.toLowerCase())].join(" ");
}

function firstParagraph(text: string): string {
  return text.split("\n\n")[0]!;
}
