import { createSubscriberService, type Subscriber, type UpdateSubscriberRequest } from "@client/gen/subscriber";
import { useState } from "preact/hooks";
import { useQuery } from "../../core/query";
import { href, navigate } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { confirm } from "../../ui/dialog";
import { FormDialog } from "../../ui/form";
import { currentTab, Page, Ready, Tabs } from "../../ui/page";
import { Ago, Facts, Id, Notice, Status } from "../../ui/text";
import { Deliveries } from "./deliveries";
import { Preferences } from "./preferences";
import { Reach } from "./reach";
import { subscriberName } from "./subscriber-names";
import { subscriberFields } from "./subscribers";

const subscribers = createSubscriberService(transport);
const tabs = { deliveries: "Deliveries", why: "Why not?", preferences: "Preferences", profile: "Profile" };

/** One subscriber: what was sent, what the person wants, and why something did not arrive. */
export function SubscriberPage({ id }: { readonly id: string }) {
  const subscriber = useQuery(`subscriber ${id}`, () => subscribers.get({ id }), { live: ["subscriber."] });
  return (
    <Page
      actions={subscriber.data && <Actions refresh={subscriber.refresh} subscriber={subscriber.data} />}
      badge={subscriber.data && <Status of={subscriber.data.active ? "active" : "inactive"} />}
      crumbs={[
        { title: "Notifications", path: "notifications" },
        { title: "Subscribers", path: "notifications", tab: "subscribers" },
      ]}
      question="What did this person get, and why not?"
      title={subscriber.data ? subscriberName(subscriber.data) : "Subscriber"}
    >
      <Tabs label="Parts of the subscriber" tabs={tabs} />
      <Ready query={subscriber}>{(data) => <Part subscriber={data} />}</Ready>
    </Page>
  );
}

function Part({ subscriber }: { readonly subscriber: Subscriber }) {
  switch (currentTab(tabs)) {
    case "deliveries":
      return <Deliveries subscriberId={subscriber.id} />;
    case "why":
      return <Reach subscriber={subscriber} />;
    case "preferences":
      return <Preferences subscriber={subscriber} />;
    case "profile":
      return <Profile subscriber={subscriber} />;
  }
}

function Profile({ subscriber }: { readonly subscriber: Subscriber }) {
  const endpoints = useQuery(`endpoints ${subscriber.id}`, () =>
    subscribers.listEndpoints({ subscriber_id: subscriber.id, limit: 100 }).page(),
  );
  return (
    <div class="columns">
      <Card title="Profile">
        <div class="stack">
          {subscriber.email_suppressed_at && (
            <Notice tone="warn">
              Mail is suppressed since <Ago time={subscriber.email_suppressed_at} />, because a provider reported that
              the address does not work.
            </Notice>
          )}
          <Facts
            of={{
              "External id": subscriber.external_id,
              Email: subscriber.email,
              Phone: subscriber.phone,
              Locale: subscriber.locale,
              "Time zone": subscriber.timezone,
              Created: <Ago time={subscriber.created_at} />,
              Id: <Id id={subscriber.id} />,
            }}
          />
        </div>
      </Card>
      <Card title="Addresses">
        {endpoints.data?.items.length ? (
          <Facts
            of={Object.fromEntries(
              endpoints.data.items.map((each) => [`${each.channel} · ${each.provider_key}`, each.identity]),
            )}
          />
        ) : (
          <p class="soft">
            Without addresses of its own, the email address and the phone number of the profile are used.
          </p>
        )}
      </Card>
    </div>
  );
}

function Actions({ subscriber, refresh }: { readonly subscriber: Subscriber; readonly refresh: () => void }) {
  const [isEditing, edit] = useState(false);
  if (!can("notification:write")) return null;
  const remove = () =>
    confirm({
      title: `Deactivate ${subscriberName(subscriber)}?`,
      consequence: "Nothing is sent to this person any more. The record and its history stay.",
      confirm: "Deactivate",
      done: "The subscriber was deactivated.",
      act: () =>
        subscribers.delete({ id: subscriber.id }).then(() => navigate(href("notifications", { tab: "subscribers" }))),
    });
  return (
    <>
      <Button onClick={() => edit(true)}>Edit</Button>
      {subscriber.active && (
        <Button onClick={remove} tone="danger-text">
          Deactivate
        </Button>
      )}
      {isEditing && (
        <FormDialog
          done="The subscriber was changed."
          fields={subscriberFields}
          initial={{ ...subscriber }}
          onClose={() => edit(false)}
          onSubmit={async (values) => {
            const { first_name, last_name, email, phone, avatar, locale, timezone, data } = subscriber;
            const all = { first_name, last_name, email, phone, avatar, locale, timezone, data, ...values };
            await subscribers.update({
              ...all,
              id: subscriber.id,
              record_version: subscriber.record_version,
            } as UpdateSubscriberRequest);
            refresh();
          }}
          submit="Save changes"
          title="Change the subscriber"
        />
      )}
    </>
  );
}
