import assert from "node:assert/strict";
import { freshName, newTenant, type ResponseData, type TenantFixture, tenantAt } from "../routing/tenant-fixture.ts";

export { freshName, type ResponseData } from "../routing/tenant-fixture.ts";

/** A tenant with helpers for its notifications. */
export interface Sender extends TenantFixture {
  /** Creates a subscriber; returns its record. */
  subscriber(fields?: object): Promise<ResponseData>;
  /** Adds an endpoint. */
  endpoint(subscriberId: string, fields: object): Promise<ResponseData>;
  /** Stores a workflow; returns its key. */
  workflow(fields?: object): Promise<string>;
  topic(subscriberIds?: readonly string[]): Promise<string>;
  /** Sets a preference row of a subscriber. */
  prefer(subscriberId: string, fields: object): Promise<ResponseData>;
  trigger(fields: object, headers?: Record<string, string>): Promise<ResponseData>;
  deliveries(query: string): Promise<ResponseData[]>;
  delivery(id: string): Promise<ResponseData>;
  inbox(subscriberId: string): Promise<ResponseData[]>;
  letters(query?: string): Promise<ResponseData[]>;
}

/** Default workflow content. */
const greeting = {
  title: "Hello {{ subscriber.first_name }}",
  body: "Order {{ payload.order }} is on its way.",
};

/** Creates a tenant with an admin. */
export async function newSender(node: { readonly baseUrl: string; readonly adminKey: string }): Promise<Sender> {
  return sending(await newTenant(node));
}

/** The same tenant on another node. */
export function senderAt(node: { readonly baseUrl: string }, sender: Pick<Sender, "id" | "key">): Sender {
  return sending(tenantAt(node, sender));
}

function sending(tenant: TenantFixture): Sender {
  const ok: TenantFixture["ok"] = async (...call) => (await tenant.ok(...call)).data;
  return {
    ...tenant,
    subscriber: (fields = {}) =>
      ok("POST", "/api/v2/notification/subscribers", { external_id: freshName(), first_name: "Ada", ...fields }),
    endpoint: (subscriberId, fields) =>
      ok("POST", `/api/v2/notification/subscribers/${subscriberId}/endpoints`, fields),
    async workflow(fields = {}) {
      const key = `w${freshName()}`;
      await ok("PUT", `/api/v2/notification/workflows/${key}`, { channels: { in_app: greeting }, ...fields });
      return key;
    },
    async topic(subscriberIds = []) {
      const key = `t${freshName()}`;
      await ok("POST", "/api/v2/notification/topics", { key });
      for (let at = 0; at < subscriberIds.length; at += 500) {
        const some = subscriberIds.slice(at, at + 500);
        await ok("POST", `/api/v2/notification/topics/${key}/subscribers`, { subscriber_ids: some });
      }
      return key;
    },
    prefer: (subscriberId, fields) =>
      ok("POST", `/api/v2/notification/subscribers/${subscriberId}/preferences`, fields),
    trigger: (fields, headers = {}) => ok("POST", "/api/v2/notifications/trigger", fields, headers),
    async deliveries(query) {
      const response = await tenant.rest.call("GET", `/api/v2/notifications/deliveries?limit=1000&${query}`);
      assert.equal(response.status, 200, response.text);
      return response.body.data;
    },
    delivery: (id) => ok("GET", `/api/v2/notifications/deliveries/${id}`),
    async inbox(subscriberId) {
      const path = `/api/v2/notification/subscribers/${subscriberId}/inbox?limit=1000`;
      return (await tenant.rest.call("GET", path)).body.data;
    },
    async letters(query = "") {
      return (await tenant.rest.call("GET", `/api/v2/notifications/dead-letters?limit=1000&${query}`)).body.data;
    },
  };
}

/** Connects a sender's channel to a provider; returns the integration's record. */
export async function serveChannel(
  sender: Sender,
  channel: string,
  providerKey: string,
  connection: { readonly settings: object; readonly credentials: object },
  fields: object = {},
): Promise<ResponseData> {
  const created = await sender.ok("POST", "/api/v2/connector/connections", {
    name: freshName(),
    provider_key: providerKey,
    ...connection,
  });
  const integration = {
    channel,
    name: freshName(),
    provider_key: providerKey,
    connection_id: created.data.id,
    ...fields,
  };
  return (await sender.ok("POST", "/api/v2/notification/integrations", integration)).data;
}
