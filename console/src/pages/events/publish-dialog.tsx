import { createEventService, type Event, type PublishEventRequest } from "@client/gen/event";
import { useState } from "preact/hooks";
import { useQuery } from "../../core/query";
import { href } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { type Example, FormDialog, type Texts } from "../../ui/form";
import { schemaFields, schemaOf } from "../../ui/form/schema-fields";
import { formatAgo } from "../../ui/format";
import { EventDeliveries } from "./event-deliveries";

const events = createEventService(transport);
const readMax = 200;
const typePattern = /^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$/;

/** Publishes an event. Its data has the members that earlier events of the type had. */
export function PublishDialog({ onClose }: { readonly onClose: () => void }) {
  const [texts, enter] = useState<Texts>({});
  const type = typePattern.test(texts.type ?? "") ? texts.type : undefined;
  const newest = useQuery(can("event:read") ? "newest events" : undefined, () =>
    events.list({ limit: readMax }).page(),
  );
  const ofType = useQuery(can("event:read") && type ? `newest ${type}` : undefined, () =>
    events.list({ types: [type!], limit: 20 }).page(),
  );
  const same = ofType.data?.items ?? [];
  const published = newest.data?.items.filter(isPublished).slice(0, 20) ?? [];
  return (
    <FormDialog
      answer={(event: Event) => <Answer event={event} />}
      examples={(same.length > 0 ? same : published).map(exampleOf)}
      fields={[
        { name: "type", label: "Type", required: true, placeholder: "order.paid", row: "what" },
        { name: "subject", label: "Subject", placeholder: "order-4711", row: "what" },
        ...schemaFields("data", "Data", schemaOf(same.map(({ data }) => data))),
      ]}
      onClose={onClose}
      onEnter={enter}
      onSubmit={(values) => events.publish(values as unknown as PublishEventRequest)}
      submit="Publish event"
      title="Publish an event"
      wide
    />
  );
}

/** The service's own events have the first part of their type as their source. */
function isPublished({ type, source }: Event): boolean {
  return source !== `/${type.split(".")[0]}`;
}

function exampleOf({ type, subject, data, time }: Event): Example {
  const label = [type, subject, formatAgo(time, Date.now())].filter(Boolean).join(", ");
  return { label, values: { type, subject, data: data ?? {} } };
}

/** What came of the event. */
function Answer({ event: { id, type } }: { readonly event: Event }) {
  return (
    <div class="stack">
      <p>
        The event was published.{" "}
        <a class="link" href={href("events", { open: id })}>
          Open {type}
        </a>
      </p>
      <EventDeliveries eventId={id} />
    </div>
  );
}
