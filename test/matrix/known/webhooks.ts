import { until } from "../../harness/embedded-owner.ts";
import { freshWord, type Json } from "../../harness/operations.ts";
import { type Known, must, type Party } from "../calls.ts";

/** Endpoints without a receiver, and their deliveries. */
export const webhookRequests: Known = {
  "WebhookService/CreateWebhookEndpoint": silentEndpoint,
  "WebhookService/ReplayWebhookEndpoint": () => ({ since: aMinuteAgo() }),
  "WebhookService/GetWebhookReplay": async (party) => {
    const endpoint_id = await makeEndpoint(party);
    const { body } = await must("WebhookService/ReplayWebhookEndpoint", party, { endpoint_id, since: aMinuteAgo() });
    return { endpoint_id, replay_id: body.data.id };
  },
  "WebhookService/ListWebhookDeliveries": async (party) => {
    const { endpoint_id } = await triedDelivery(party);
    return { endpoint_id };
  },
  "WebhookService/GetWebhookDelivery": triedDelivery,
  "WebhookService/ReplayWebhookDelivery": triedDelivery,
};

// No event has this type, so only explicit requests send anything.
function silentEndpoint(): Json {
  return { url: "http://127.0.0.1:9/", description: freshWord(), event_types: ["matrix.none"] };
}

function aMinuteAgo(): string {
  return new Date(Date.now() - 60_000).toISOString();
}

async function makeEndpoint(party: Party): Promise<string> {
  const { body } = await must("WebhookService/CreateWebhookEndpoint", party, silentEndpoint());
  return body.data.id;
}

/** A delivery that waits for its second attempt. */
async function triedDelivery(party: Party): Promise<Json> {
  const endpoint_id = await makeEndpoint(party);
  const { body } = await must("WebhookService/TestWebhookEndpoint", party, { endpoint_id });
  const named = { endpoint_id, delivery_id: body.data.id };
  await until(async () => {
    const read = await must("WebhookService/GetWebhookDelivery", party, named);
    return read.body.data.attempt_count > 0;
  });
  return named;
}
