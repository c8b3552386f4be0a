import type { ItemProgress, QueueItem } from "@client/gen/queue";
import { Meter } from "../../ui/card";
import { words } from "../../ui/format";
import { JsonView } from "../../ui/json-view";
import { Name } from "../../ui/name";
import { Ago, type Tone } from "../../ui/text";

/** The progress of an item, as last reported by its worker. */
export function Progress({ of: { percent, note, attempt, reported_at } }: { readonly of: ItemProgress }) {
  return (
    <section aria-label="Progress" class="field">
      <div class="filters">
        <strong class="number">{percent} %</strong>
        <span class="soft">{note}</span>
        <span class="spacer" />
        <span class="soft">
          Attempt {attempt}, <Ago time={reported_at} />
        </span>
      </div>
      <Meter share={percent / 100} />
    </section>
  );
}

/** The worker's result: any JSON value, including null. */
export function Result({ item }: { readonly item: QueueItem }) {
  if (item.state !== "completed") return null;
  return (
    <>
      <h3>Result</h3>
      {item.result === undefined ? (
        <p class="soft">The worker reported none.</p>
      ) : (
        <JsonView label="Result of the item" value={item.result} />
      )}
    </>
  );
}

/** The items that must end first. */
export function Dependencies({ item: { after, after_failure } }: { readonly item: QueueItem }) {
  if (after.length === 0) return null;
  const failure = after_failure === "run" ? "it runs all the same" : "it is cancelled";
  return (
    <>
      <h3>Waits for</h3>
      <ul>
        {after.map((id) => (
          <li key={id}>
            <Name id={id} kind="queue_item" />
          </li>
        ))}
      </ul>
      <p class="soft">If one of them is not completed, {failure}.</p>
    </>
  );
}

const offerTones: Readonly<Record<string, Tone>> = {
  open: "info",
  accepted: "ok",
  declined: "bad",
  expired: "warn",
  withdrawn: "muted",
};

/** The recipients of offers of the item, and their answers. */
export function OfferHistory({ item: { offers } }: { readonly item: QueueItem }) {
  if (offers.length === 0) return null;
  return (
    <>
      <h3>Offers</h3>
      <ol class="steps">
        {offers.map((offer) => (
          <li data-tone={offerTones[offer.state]} key={offer.offer_number}>
            <span>
              <strong>
                <Name id={offer.recipient_id} kind="recipient" />
              </strong>{" "}
              <span class="soft">{words(offer.state).toLowerCase()}</span>
            </span>
            <span class="when">
              <Ago time={offer.state === "open" ? offer.expires_at : (offer.ended_at ?? offer.offered_at)} />
            </span>
            {(offer.reason !== "" || offer.reason_code !== "") && (
              <span class="detail">{offer.reason || words(offer.reason_code)}</span>
            )}
          </li>
        ))}
      </ol>
    </>
  );
}
