import { freshWord, type Json } from "../../harness/operations.ts";
import { type Known, must, type Party } from "../calls.ts";
import { makeConnection } from "./connections.ts";

/** Subscribers with addresses, and their topics. */
export const subscriberRequests: Known = {
  // Any text that a tenant chooses: it names no existing record.
  "SubscriberService/UpsertSubscriber": () => ({ external_id: freshWord() }),
  "SubscriberService/ListSubscribers": async (party) => {
    const external_id = freshWord();
    await makeSubscriber(party, { external_id });
    return { external_id };
  },
  "SubscriberService/UpsertEndpoint": async (party) => ({
    ...newEndpoint(),
    channel: "chat",
    connection_id: await makeConnection(party),
  }),
  "SubscriberService/DeleteEndpoint": endpoint,
  "SubscriberService/ListEndpoints": (party) => endpoint(party).then(({ subscriber_id }) => ({ subscriber_id })),
  "SubscriberService/UpsertSubscription": async (party) => ({ topic_key: await makeTopic(party) }),
  "SubscriberService/DeleteSubscription": subscription,
  "SubscriberService/ListSubscriptions": (party) =>
    subscription(party).then(({ subscriber_id }) => ({ subscriber_id })),

  "TopicService/CreateTopic": () => ({ key: freshWord() }),
  "TopicService/GetTopic": topic,
  "TopicService/UpdateTopic": topic,
  "TopicService/DeleteTopic": topic,
  "TopicService/ListTopics": async (party) => {
    await makeTopic(party);
    return {};
  },
  "TopicService/AddTopicSubscribers": async (party) => ({
    key: await makeTopic(party),
    subscriber_ids: [await makeSubscriber(party)],
  }),
  "TopicService/RemoveTopicSubscribers": async (party) => {
    const { topic_key, subscriber_id } = await subscription(party);
    return { key: topic_key, subscriber_ids: [subscriber_id] };
  },
  "TopicService/ListTopicSubscribers": (party) => subscription(party).then(({ topic_key }) => ({ key: topic_key })),
};

/** Creates a subscriber; returns its id. */
async function makeSubscriber(party: Party, more: Json = {}): Promise<string> {
  const { body } = await must("SubscriberService/UpsertSubscriber", party, { external_id: freshWord(), ...more });
  return body.data.id;
}

/** Creates a topic; returns its key. */
async function makeTopic(party: Party): Promise<string> {
  const { body } = await must("TopicService/CreateTopic", party, { key: freshWord() });
  return body.data.key;
}

async function topic(party: Party): Promise<Json> {
  return { key: await makeTopic(party) };
}

function newEndpoint(): Json {
  return { channel: "push", identity: freshWord() };
}

async function endpoint(party: Party): Promise<Json> {
  const subscriber_id = await makeSubscriber(party);
  const { body } = await must("SubscriberService/UpsertEndpoint", party, { subscriber_id, ...newEndpoint() });
  return { subscriber_id, endpoint_id: body.data.id };
}

async function subscription(party: Party): Promise<Json> {
  const subscriber_id = await makeSubscriber(party);
  const topic_key = await makeTopic(party);
  await must("SubscriberService/UpsertSubscription", party, { subscriber_id, topic_key });
  return { subscriber_id, topic_key };
}
