import { freshWord, type Json } from "../../harness/operations.ts";
import { type Known, must, type Party } from "../calls.ts";

/** Connections, through which the service calls providers for a tenant. */
export const connectionRequests: Known = {
  "ConnectionService/CreateConnection": newConnection,
};

/** Creates a connection; returns its id. */
export async function makeConnection(party: Party): Promise<string> {
  const { body } = await must("ConnectionService/CreateConnection", party, newConnection());
  return body.data.id;
}

/** A connection of a chat provider, for tests that need any connection. */
function newConnection(): Json {
  return {
    name: freshWord(),
    provider_key: "slack",
    credentials: { webhook_url: "https://hooks.example.com/services/T0/B0/secret" },
  };
}
