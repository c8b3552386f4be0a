import { freshWord, type Json } from "../../harness/operations.ts";
import { type Known, must, type Party } from "../calls.ts";

/** Notifications, dead letters, inboxes and the outbox. */
export const notificationRequests: Known = {
  "NotificationService/TriggerNotification": async (party) => ({
    workflow_key: await makeWorkflow(party),
    subscriber_id: await makeSubscriber(party),
    ...oneNameOnly,
  }),
  "NotificationService/ListDeliveries": async (party) => {
    const { subscriber_id } = await makeDelivery(party);
    return { subscriber_id, transaction_id: "" };
  },
  "NotificationService/GetDelivery": deliveryOnly,
  "NotificationService/ListObservations": async (party) => {
    const { subscriber_id, delivery_id } = await makeDelivery(party);
    await must("InboxService/MarkInboxMessage", party, { subscriber_id, message_id: delivery_id });
    return { delivery_id };
  },
  "NotificationService/GetBroadcast": async (party) => {
    const { body: topic } = await must("TopicService/CreateTopic", party, { key: freshWord() });
    const { body } = await must("NotificationService/TriggerNotification", party, {
      workflow_key: freshWord(),
      topic: topic.data.key,
    });
    const { transaction_id } = body.data;
    // It runs in the background until it is done, and nothing else may change meanwhile.
    for (let status = ""; status !== "completed"; ) {
      status = (await must("NotificationService/GetBroadcast", party, { transaction_id })).body.data.status;
    }
    return { transaction_id };
  },
  "NotificationService/ListNotificationDeadLetters": async (party) => {
    await makeDeadLetter(party);
    return {};
  },
  "NotificationService/RedriveNotificationDeadLetter": async (party) => ({
    dead_letter_id: await makeDeadLetter(party),
  }),

  "InboxService/ListInboxMessages": inboxOnly,
  "InboxService/CountUnreadMessages": inboxOnly,
  "InboxService/WatchInbox": async (party) => {
    const { subscriber_id, delivery_id } = await makeDelivery(party);
    await trigger(party, { workflow_key: await makeWorkflow(party), subscriber_id, channels: ["in_app"] });
    return { subscriber_id, cursor: delivery_id };
  },
  "InboxService/MarkInboxMessage": async (party) => {
    const { subscriber_id, delivery_id } = await makeDelivery(party);
    return { subscriber_id, message_id: delivery_id };
  },
  "InboxService/MarkAllInboxMessages": inboxOnly,
  "OutboxService/ListOutboxMessages": async (party) => {
    const channels = ["email"];
    const integration = { channel: "email", name: freshWord(), provider_key: "development" };
    await must("IntegrationService/CreateIntegration", party, integration);
    await trigger(party, { workflow_key: await makeWorkflow(party), channels });
    return {};
  },
};

/** A recipient is named only by its id; a user is not a record of the tenant. */
const oneNameOnly = { subscriber_external_id: "", user_id: "" };

async function makeSubscriber(party: Party): Promise<string> {
  const email = `${freshWord()}@example.com`;
  const { body } = await must("SubscriberService/UpsertSubscriber", party, { external_id: freshWord(), email });
  return body.data.id;
}

async function makeWorkflow(party: Party): Promise<string> {
  const workflow_key = freshWord();
  const channels = { in_app: { body: "B" }, email: { subject: "S", body: "B" } };
  await must("NotificationWorkflowService/UpsertNotificationWorkflow", party, { workflow_key, channels });
  return workflow_key;
}

async function trigger(party: Party, fields: Json) {
  const subscriber_id = await makeSubscriber(party);
  const { body } = await must("NotificationService/TriggerNotification", party, { subscriber_id, ...fields });
  return { subscriber_id, ...body.data.outcomes[0] };
}

async function makeDelivery(party: Party): Promise<Json> {
  const channels = ["in_app"];
  const { subscriber_id, delivery_id } = await trigger(party, { workflow_key: await makeWorkflow(party), channels });
  return { subscriber_id, delivery_id };
}

async function deliveryOnly(party: Party): Promise<Json> {
  const { delivery_id } = await makeDelivery(party);
  return { delivery_id };
}

async function inboxOnly(party: Party): Promise<Json> {
  const { subscriber_id } = await makeDelivery(party);
  return { subscriber_id };
}

/** Triggers a workflow without templates. */
async function makeDeadLetter(party: Party): Promise<string> {
  const { delivery_id } = await trigger(party, { workflow_key: freshWord(), channels: ["in_app"] });
  const { body } = await must("NotificationService/GetDelivery", party, { delivery_id });
  return body.data.dead_letter_id;
}
