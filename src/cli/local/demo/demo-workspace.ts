import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Client } from "../../../../clients/typescript/src/client.ts";

/** Invites people and creates what an administrator looks at. */
export async function seedWorkspace(client: Client): Promise<void> {
  await Promise.all([
    client.members.invite({ email: "ada@acme.example", display_name: "Ada Lovelace", roles: ["admin"] }),
    client.members.invite({ email: "grace@acme.example", display_name: "Grace Hopper", roles: ["operator"] }),
    client.members.invite({ email: "hedy@acme.example", display_name: "Hedy Lamarr", roles: ["viewer"] }),
    client.apiKeys.create({ name: "shop backend", roles: ["service"] }),
    client.apiKeys.create({ name: "reporting", roles: ["viewer"] }),
  ]);
}

/** Receives the webhooks of the demo. One in eight requests fails, so that there are attempts to look at. */
export interface WebhookReceiver {
  readonly url: string;
  close(): void;
}

/** Starts the receiver on this machine. */
export async function startReceiver(): Promise<WebhookReceiver> {
  let received = 0;
  const server: Server = createServer((request, response) => {
    request.resume();
    response.writeHead(++received % 8 === 0 ? 503 : 204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/events`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Sends orders and queue events to the receiver. A receiver of an earlier start had another address. */
export async function seedWebhook(client: Client, url: string): Promise<void> {
  const endpoints = await client.webhooks.listEndpoints({ limit: 100 }).take(100);
  const existing = endpoints.find(({ description }) => description === "The shop");
  if (existing === undefined) {
    const event_types = ["order.*", "queue.item.dead_lettered", "experiment.*"];
    await client.webhooks.createEndpoint({ url, description: "The shop", event_types });
  } else await client.webhooks.updateEndpoint({ endpoint_id: existing.id, url });
}
