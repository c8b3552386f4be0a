import type { Schema } from "../openapi/index.ts";
import { type PageRenderer, prose } from "./page.ts";
import { fieldRow } from "./schema-table.ts";

/** The event types of the service: the meaning of each, and the fields of its data, separated by spaces. */
export type EventTypes = Readonly<Record<string, readonly [meaning: string, data: string]>>;

/** Renders the page that lists every event type. */
export function renderEvents(renderPage: PageRenderer, types: EventTypes, root: string): string {
  const rows = Object.entries(types).map(
    ([type, [meaning]]) =>
      `<tr><td><a href="${root}docs/events/${type}"><code>${type}</code></a></td><td>${prose(meaning)}</td></tr>`,
  );
  return renderPage({
    title: "Events",
    root,
    path: "docs/events",
    main: `<h1>Events</h1>
<p class="lead">What the service writes to the event log of a tenant. Each is a CloudEvent 1.0; its <code>subject</code> is the id of the record.</p>
${howToReceive(root)}
<table class="table">
<thead><tr><th>Type</th><th>Meaning</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table>`,
  });
}

/** Fields that events of many types have. */
const commonFields: Readonly<Record<string, Schema>> = {
  fields: { type: "array", items: { type: "string" }, description: "The names of the fields that were changed." },
  environment_id: { type: "string", description: "The environment." },
  pool_id: { type: "string", description: "The pool." },
  name: { type: "string", description: "The name of the record." },
  reason: { type: "string", description: "Why it happened." },
};

/**
 * Renders the page of an event type. `sample` reads the last events of that type. A field that the record of the event has,
 * too, is described like there.
 */
export function renderEvent(
  renderPage: PageRenderer,
  type: string,
  [meaning, data]: EventTypes[string],
  sample: string,
  record: Schema | undefined,
): string {
  const root = "../../";
  const fields = data === "" ? [] : data.split(" ");
  const rows = fields.map((name) => {
    const { type = "object", items, description } = record?.properties?.[name] ?? commonFields[name] ?? { type: "" };
    const elements = items?.$ref === undefined ? items : { type: "object" };
    return fieldRow(name, { type, ...(elements && { items: elements }) }, [], description);
  });
  return renderPage({
    title: type,
    root,
    path: "docs/events",
    main: `<p class="crumbs"><a href="${root}docs/events">Events</a></p>
<h1>${type}</h1>
<p class="lead">${prose(meaning)}</p>
<h2>Fields of <code>data</code></h2>
${fields.length === 0 ? "<p>None. The <code>subject</code> says which record it is about.</p>" : `<table class="fields"><tbody>\n${rows.join("\n")}\n</tbody></table>`}
<h2>How to receive it</h2>
${howToReceive(root, type)}
<h2>The last ones of yours</h2>
${sample}`,
  });
}

function howToReceive(root: string, type?: string): string {
  const named = type === undefined ? "" : ` with <code>types=${type}</code>`;
  return `<ul class="prose">
<li><a href="${root}docs/services/EventService#EventService_ListEvents">List them</a>, or <a href="${root}docs/services/EventService#EventService_SubscribeEvents">follow them</a> as server-sent events${named}.</li>
<li>Have them sent to you: <a href="${root}docs/services/WebhookService#WebhookService_CreateWebhookEndpoint">create a webhook endpoint</a>.</li>
<li>Start a workflow run when one happens: <a href="${root}docs/services/WorkflowTriggerService#WorkflowTriggerService_CreateWorkflowTrigger">create a trigger</a>.</li>
</ul>`;
}
