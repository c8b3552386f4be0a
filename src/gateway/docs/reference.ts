import type { Operation } from "../../definitions/index.ts";
import type { OpenApiDocument, Schema } from "../openapi/index.ts";
import { type DescribedOperation, describeOperations } from "./described-operation.ts";
import { type EventTypes, renderEvent } from "./event-pages.ts";
import { renderExchange } from "./exchange.ts";
import { parametersOf, renderOperation } from "./operation-section.ts";
import { badge, escapeHtml, type PageRenderer, prose, richText, serviceTitle } from "./page.ts";
import { createRecordSlots } from "./record-slots.ts";
import { collectTypes, renderSchemaTable, typeAnchor } from "./schema-table.ts";

/** The pages of the reference. */
export type Reference = ReturnType<typeof createReference>;

/** Creates the reference from the OpenAPI document. Pages are rendered on demand. */
export function createReference(document: OpenApiDocument, operations: readonly Operation[], renderPage: PageRenderer) {
  const described = describeOperations(document, operations);
  const byService = Map.groupBy(described, ({ object }) => object.tags[0]!);
  const slots = createRecordSlots(operations);
  const address = document.servers.at(-1)!.url;

  return {
    described,

    /** Renders the page that lists every operation. */
    index(root: string): string {
      const sections = document.tags.map(({ name, description }) => {
        const href = `${root}docs/services/${name}`;
        const rows = (byService.get(name) ?? []).map((each) => `<li>${operationLink(each, href)}</li>`);
        return `<section class="service">
<h2><a href="${href}">${serviceTitle(name)}</a></h2>
<p>${prose(description.split("\n\n")[0]!)}</p>
<ul class="operations">
${rows.join("\n")}
</ul>
</section>`;
      });
      return renderPage({
        title: "Reference",
        root,
        path: "docs",
        main: `<h1>Reference</h1>
${richText(String(document.info.description))}
<p>New here? The <a href="${root}docs/guides">guides</a> do one thing each, from start to end. Begin with <a href="${root}docs/guides/route-your-first-item.md">Route your first item</a>.</p>
${beforeSamples(address)}
${sections.join("\n")}`,
      });
    },

    /** Renders the page of one service; undefined if the service does not exist. */
    service(name: string, root: string): string | undefined {
      const tag = document.tags.find((each) => each.name === name);
      if (tag === undefined) return undefined;
      const own = byService.get(name) ?? [];
      const types = collectTypes(document, own).map(
        ([type, schema]) => `<section class="type" id="${typeAnchor(type)}">
<h3>${escapeHtml(type)}</h3>
${schema.description === undefined ? "" : `<p>${prose(schema.description)}</p>`}
${renderSchemaTable(schema)}
</section>`,
      );
      return renderPage({
        title: serviceTitle(name),
        root,
        path: `docs/services/${name}`,
        sections: own.map(({ object }) => ({ id: object.operationId, title: object.summary })),
        main: `<h1>${serviceTitle(name)}</h1>
${richText(tag.description)}
<ul class="operations">
${own.map((each) => `<li>${operationLink(each, "")}</li>`).join("\n")}
</ul>
${beforeSamples(address)}
${own.map((each) => renderOperation(document, each, slots, root)).join("\n")}
<h2>Types</h2>
${types.join("\n")}`,
      });
    },

    /** Renders the page of an event type; undefined if the service records no such event. */
    event(type: string, types: EventTypes): string | undefined {
      const list = described.find(({ object }) => object.operationId === "EventService_ListEvents")!;
      if (!Object.hasOwn(types, type)) return undefined;
      const sample = renderExchange(list, parametersOf(document, list.object), slots, { types: type, limit: "5" });
      return renderEvent(renderPage, type, types[type]!, beforeSamples(address) + sample, recordOf(type, document));
    },
  };
}

/** The schema of the record that an event type such as `connect_session.created` is about, if it has its name. */
function recordOf(type: string, { components }: OpenApiDocument): Schema | undefined {
  const schemas = components.schemas as Readonly<Record<string, Schema>>;
  const words = type.split(".").slice(0, -1);
  const names = words.map((_, at) =>
    words
      .slice(at)
      .join("_")
      .replace(/(?:^|_)(\w)/g, (_, first: string) => first.toUpperCase()),
  );
  return names.map((name) => schemas[name]).find((schema) => schema !== undefined);
}

/** What a terminal needs for the samples. */
function beforeSamples(address: string): string {
  return `<p class="setup">The samples read the address and a key from the environment: <code>export SWITCHYARD_ADDRESS=${escapeHtml(address)} SWITCHYARD_KEY=…</code></p>`;
}

function operationLink({ object, sampled }: DescribedOperation, page: string): string {
  return `${badge(sampled.verb)} <a href="${page}#${object.operationId}">${escapeHtml(object.summary)}</a> <code>${escapeHtml(sampled.path)}</code>`;
}
