import type { Pool } from "@client/gen/pool";
import { createQueueService } from "@client/gen/queue";
import { createRecipientService, type Recipient } from "@client/gen/recipient";
import { createRoutingService } from "@client/gen/routing";
import { useList, useQuery } from "../../core/query";
import { href, withQuery } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Card, Meter, Stat } from "../../ui/card";
import { Empty, samplesOf } from "../../ui/empty";
import { formatCount, formatLimit, formatSeconds, words } from "../../ui/format";
import { nameText } from "../../ui/name";
import { ListTable } from "../../ui/page";
import { Ago, Status } from "../../ui/text";
import { itemText } from "../shared/item-text";

const queues = createQueueService(transport);
const recipients = createRecipientService(transport);
const routing = createRoutingService(transport);
const everyMs = 2_000;

/** Who gets work right now: the load of each recipient and the newest decisions. */
export function LiveAssignment({ pool }: { readonly pool: Pool }) {
  const queue = useQuery(
    can("queue:read") ? `queue ${pool.id}` : undefined,
    () => queues.getStatus({ pool_id: pool.id }),
    {
      everyMs,
    },
  );
  const list = useList(`recipients ${pool.id} `, (page) => recipients.list({ ...page, pool_id: pool.id }), {
    everyMs,
    live: ["recipient."],
  });
  return (
    <>
      {queue.data && (
        <div class="stats">
          <Stat
            href={href(`queues/${pool.id}`)}
            label="Waiting"
            note={Number(queue.data.depth) > 0 ? `oldest ${formatSeconds(queue.data.oldest_age_s)}` : undefined}
            value={Number(queue.data.depth)}
          />
          <Stat label="In progress" value={Number(queue.data.in_flight)} />
          <Stat label="Accepted today" value={Number(queue.data.accepted_today)} />
          <Stat label="Completed today" value={Number(queue.data.throughput_today)} />
        </div>
      )}
      <div class="columns">
        <Card title="Load of the recipients">
          {list.rows.length === 0 ? (
            <p class="soft">
              This pool has no recipients yet. Items wait until{" "}
              <a class="link" href={withQuery({ tab: "recipients" })}>
                one is added
              </a>
              .
            </p>
          ) : (
            <div class="stack">
              {list.rows.slice(0, 40).map((recipient) => (
                <Load key={recipient.id} recipient={recipient} />
              ))}
            </div>
          )}
        </Card>
        <Decisions pool={pool} />
      </div>
    </>
  );
}

function Load({ recipient: { name, in_flight, capacity, status } }: { readonly recipient: Recipient }) {
  const share = capacity === 0 ? 0 : in_flight / capacity;
  return (
    <div class="field">
      <div class="filters">
        <strong>{name}</strong>
        {status !== "STATUS_ACTIVE" && <Status of={status} />}
        <span class="spacer" />
        <span class="soft number">
          {formatCount(in_flight)} of {formatLimit(capacity)}
        </span>
      </div>
      <Meter share={share} tone={share >= 1 ? "bad" : undefined} />
    </div>
  );
}

function Decisions({ pool }: { readonly pool: Pool }) {
  const list = useList(
    can("decision:read") ? `decisions of ${pool.id}` : undefined,
    (page) => routing.listDecisions({ ...page, limit: 15, pool_id: pool.id }),
    { everyMs },
  );
  if (!can("decision:read")) return null;
  return (
    <Card flush title="Newest decisions">
      <ListTable
        columns={[
          {
            title: "Outcome",
            width: "118px",
            value: ({ outcome }) => outcome,
            render: ({ outcome }) => <Status of={outcome} />,
          },
          { title: "Item", value: itemText },
          {
            title: "Recipient",
            value: ({ recipient_id, reason }) => (recipient_id ? nameText(recipient_id, "recipient") : words(reason)),
          },
          {
            title: "When",
            width: "100px",
            value: ({ decided_at }) => decided_at,
            render: ({ decided_at }) => <Ago time={decided_at} />,
          },
        ]}
        empty={
          <Empty
            samples={samplesOf({
              path: "/api/route",
              body: { pool_id: pool.id, type: "ticket", attributes: { language: "de" } },
              cli: `route --pool-id ${pool.id} --type ticket --attributes '{"language": "de"}'`,
              sdk: `routing.route({ pool_id: "${pool.id}", type: "ticket", attributes: { language: "de" } })`,
            })}
            title="Nothing was routed here yet"
          >
            Route an item, and the decision appears here with its reasons.
          </Empty>
        }
        hrefOf={({ decision_id }) => href(`decisions/${decision_id}`)}
        keyOf={({ decision_id }) => decision_id}
        label="Newest decisions"
        list={list}
      />
    </Card>
  );
}
