import { createEventService, type Event } from "@client/gen/event";
import { useEffect, useRef, useState } from "preact/hooks";
import { environmentFilter, isShownEnvironment } from "../../core/environments";
import { isPaused, onEvents } from "../../core/live";
import { useList, useQuery } from "../../core/query";
import { setQuery, useAddressedDialog } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Empty, samplesOf } from "../../ui/empty";
import { formatCount, formatTime } from "../../ui/format";
import { JsonView } from "../../ui/json-view";
import { Name } from "../../ui/name";
import { filterOf, Page, Ready, TextFilter } from "../../ui/page";
import { Facts, Id } from "../../ui/text";
import { EventDeliveries } from "./event-deliveries";
import { EventLog } from "./event-log";
import { PublishDialog } from "./publish-dialog";

const events = createEventService(transport);
/** Older events are dropped from the view, not from the log. */
const keptMax = 50_000;

/** Events: everything that happens in the workspace, as it happens. */
export default function Events() {
  const [isPublishing, publish] = useAddressedDialog("publish", can("event:write"));
  const opened = filterOf("open");
  const rows = useTail();
  return (
    <Page
      actions={
        can("event:write") && (
          <Button icon="plus" onClick={() => publish(true)}>
            Publish
          </Button>
        )
      }
      question="What is happening right now?"
      title="Events"
    >
      <div class="filters">
        <TextFilter label="Type, such as queue.*" name="type" />
        <TextFilter label="Subject" name="subject" />
        <span class="spacer" />
        <span class="faint number" data-testid="event-count">
          {formatCount(rows.length)} events
        </span>
      </div>
      {rows.length === 0 ? (
        <Empty
          samples={samplesOf({
            path: "/api/events",
            body: { type: "order.paid", subject: "order-4711", data: { amount: 4200 } },
            cli: `event publish --type order.paid --subject order-4711 --data '{"amount": 4200}'`,
            sdk: `events.publish({ type: "order.paid", subject: "order-4711", data: { amount: 4200 } })`,
          })}
          title="No event matches"
        >
          Every change in the workspace is an event. Publish your own too: workflows, webhooks and this page receive
          them.
        </Empty>
      ) : (
        <EventLog onOpen={({ id }) => setQuery({ open: id }, { replace: false })} rows={rows} />
      )}
      {opened !== undefined && <EventDrawer id={opened} onClose={() => setQuery({ open: undefined })} />}
      {isPublishing && <PublishDialog onClose={() => publish(false)} />}
    </Page>
  );
}

/** The newest stored events and, after them, those that arrive. Newest first. */
function useTail(): readonly Event[] {
  const type = filterOf("type");
  const subject = filterOf("subject");
  const types =
    type === undefined ? undefined : type.split(/[\s,]+/).filter((each) => /^[a-z][a-z0-9_.]*(\.\*)?$/.test(each));
  const filters = { types, subject, ...environmentFilter() };
  const key = `events ${JSON.stringify(filters)}`;
  const stored = useList(key, (page) => events.list({ ...page, limit: 200, ...filters }));
  const arrived = useRef<{ key: string; rows: Event[] }>({ key, rows: [] });
  const [, redraw] = useState(0);
  if (arrived.current.key !== key) arrived.current = { key, rows: [] };
  useEffect(
    () =>
      onEvents((batch) => {
        const wanted = batch.filter((event) => matches(event, types, subject));
        if (wanted.length === 0) return;
        arrived.current.rows = [...wanted.toReversed(), ...arrived.current.rows].slice(0, keptMax);
        if (!isPaused.peek()) redraw((count) => count + 1);
      }),
    [key],
  );
  const known = new Set(arrived.current.rows.slice(-400).map(({ id }) => id));
  const rows = [...arrived.current.rows, ...stored.rows.filter(({ id }) => !known.has(id))];
  // Held still, the rows stay as they were. Those that arrive meanwhile are shown afterwards.
  const held = useRef(rows);
  if (!isPaused.value) held.current = rows;
  return held.current;
}

function matches(event: Event, types: readonly string[] | undefined, subject: string | undefined): boolean {
  if (!isShownEnvironment(event.environment_id)) return false;
  if (subject !== undefined && event.subject !== subject) return false;
  if (types === undefined || types.length === 0) return true;
  return types.some((type) => (type.endsWith(".*") ? event.type.startsWith(type.slice(0, -1)) : event.type === type));
}

function EventDrawer({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const event = useQuery(`event ${id}`, () => events.get({ event_id: id }));
  return (
    <Dialog kind="drawer" onClose={onClose} title={event.data?.type ?? "Event"}>
      <div class="dialog-body">
        <Ready query={event}>
          {(data) => (
            <>
              <Facts
                of={{
                  Subject: data.subject && <Name id={data.subject} otherwise={data.subject} />,
                  Time: formatTime(data.time),
                  Source: data.source,
                  Environment: data.environment_id && <Name id={data.environment_id} kind="environment" />,
                  Id: <Id id={data.id} />,
                }}
              />
              <h3>Data</h3>
              <JsonView label="Data of the event" value={data.data ?? {}} />
              <EventDeliveries eventId={data.id} />
            </>
          )}
        </Ready>
      </div>
    </Dialog>
  );
}
