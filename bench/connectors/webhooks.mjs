// Webhooks of a provider, from the request to the answer: when it is sent, the event and its delivery are committed.
import { createHmac } from "node:crypto";

const secret = "only for measuring";
const body = JSON.stringify({ id: "o1", type: "order.paid", total: 125, lines: [{ sku: "a-1", count: 2 }] });

const manifest = {
  ...{ manifest: 1, key: "bench-hooks", version: "1.0.0", name: "Hooks", category: "generic" },
  ...{ description: "For measuring.", docs_url: "https://example.com", hosts: ["api.example.com"] },
  ...{ base_url: "https://api.example.com", actions: {} },
  auth: {
    api_key: { fields: { token: { title: "Token" } }, apply: { headers: { "x-token": "{credentials.token}" } } },
  },
  triggers: {
    "order.changed": {
      ...{ title: "Order changed", description: "An order changed.", kind: "webhook" },
      verify: { kind: "hmac", header: "x-signature", over: "{body}" },
      events: [{ when: 'body.type.startsWith("order.")', type: "order.changed" }],
      // The load generator makes it unique for every request.
      dedup: 'headers["idempotency-key"]',
    },
  },
};

/** Creates a subscription; returns the request that delivers an event to it. */
export async function webhookRequest(call) {
  await call("POST", "/api/v2/connector/manifests", { document: manifest });
  const { data: connection } = await call("POST", "/api/v2/connector/connections", {
    ...{ name: "hooks", provider_key: "bench-hooks", credentials: { token: "0123456789abcdef" } },
  });
  const { data: subscription } = await call("POST", "/api/v2/connector/trigger-subscriptions", {
    ...{ name: "orders", trigger_key: "bench-hooks.order.changed", connection_id: connection.id },
    ...{ signing_secret: secret, target: { record: {} } },
  });
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  return {
    subscriptionId: subscription.id,
    request: {
      method: "POST",
      path: new URL(subscription.callback_url).pathname,
      headers: { "content-type": "application/json", "x-signature": signature },
      body,
      uniqueKey: true,
    },
  };
}
