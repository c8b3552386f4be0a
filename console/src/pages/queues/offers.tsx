import { createOfferService, type Offer } from "@client/gen/offer";
import { useState } from "preact/hooks";
import { useList } from "../../core/query";
import { href, withQuery } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { FormDialog } from "../../ui/form";
import { nameColumn, nameText } from "../../ui/name";
import { ListTable } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago } from "../../ui/text";
import { itemText } from "../shared/item-text";

const offers = createOfferService(transport);

const columns: readonly Column<Offer>[] = [
  { title: "Item", value: itemText },
  nameColumn({ title: "Offered to", kind: "recipient", id: ({ recipient_id }) => recipient_id }),
  { title: "Offer", width: "76px", isNumber: true, value: ({ offer_number }) => offer_number },
  {
    title: "Made",
    width: "110px",
    value: ({ offered_at }) => offered_at,
    render: ({ offered_at }) => <Ago time={offered_at} />,
  },
  {
    title: "Expires",
    width: "110px",
    value: ({ expires_at }) => expires_at,
    render: ({ expires_at }) => <Ago time={expires_at} />,
  },
];

interface Props {
  readonly poolId: string;
}

/** The open offers of a pool: who may take what, and until when. An operator can answer for a recipient. */
export function Offers({ poolId }: Props) {
  const [declined, decline] = useState<Offer>();
  const nameOf = ({ recipient_id }: Offer) => nameText(recipient_id, "recipient");
  const list = useList(
    can("work:read") ? `offers ${poolId}` : undefined,
    (page) => offers.list({ ...page, pool_id: poolId }),
    { everyMs: 3_000, live: ["queue.item.offer"] },
  );
  if (!can("work:read")) return <Empty title="Offers are hidden">To see them, you need the scope work:read.</Empty>;
  return (
    <>
      <ListTable
        columns={columns}
        empty={<NoOffer poolId={poolId} />}
        hrefOf={({ queue_item_id }) => withQuery({ open: queue_item_id })}
        keyOf={({ queue_item_id }) => queue_item_id}
        label="Open offers"
        list={list}
        rowActions={
          can("work:write")
            ? (offer) => (
                <>
                  <Button onClick={() => askToAccept(offer, nameOf(offer), list.refresh)} small tone="quiet">
                    Accept
                  </Button>
                  <Button onClick={() => decline(offer)} small tone="quiet">
                    Decline
                  </Button>
                </>
              )
            : undefined
        }
        rowActionsWidth="160px"
      />
      {declined && (
        <FormDialog
          done="The offer was declined. The item goes to the next recipient."
          fields={[
            { name: "reason", label: "Reason", placeholder: "On a break" },
            { name: "reason_code", label: "Code of the reason", placeholder: "on_a_break" },
          ]}
          onClose={() => decline(undefined)}
          onSubmit={async (values) => {
            await offers.decline({ ...values, ...answerTo(declined) });
            list.refresh();
          }}
          submit="Decline"
          title={`Decline for ${nameOf(declined)}`}
        />
      )}
    </>
  );
}

/** Names the offer that is answered. The number protects from an answer to a later offer. */
function answerTo({ pool_id, queue_item_id, recipient_id, offer_number }: Offer) {
  return { pool_id, queue_item_id, recipient_id, offer_number };
}

function askToAccept(offer: Offer, name: string, refresh: () => void): void {
  confirm({
    title: `Accept for ${name}?`,
    consequence: `The item is leased to ${name}, which starts an attempt. ${name} gets the lease by accepting as well, and must complete the item before the lease ends.`,
    confirm: "Accept",
    done: `${name} has the item.`,
    act: () => offers.accept(answerTo(offer)).then(refresh),
  });
}

function NoOffer({ poolId }: Props) {
  return (
    <Empty title="No open offer">
      In a pool with reservations, an item is offered to a recipient, who accepts or declines it within a time limit. To
      use them, set <code>reservation</code> in the configuration of{" "}
      <a class="link" href={href(`pools/${poolId}`, { tab: "strategy" })}>
        the pool
      </a>
      , for example <code>{`{ "reservation": { "timeout_s": 60 } }`}</code>. Answered offers are shown with their item.
    </Empty>
  );
}
