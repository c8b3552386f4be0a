import { freshWord, type Json } from "../../harness/operations.ts";
import { type Known, must, type Party } from "../calls.ts";

/** Connections, by which the service acts for a tenant elsewhere. */
export const connectionRequests: Known = {
  "ConnectionService/CreateConnection": newConnection,
};

/** Makes a connection; answers with its id. */
export async function makeConnection(party: Party): Promise<string> {
  const { body } = await must("ConnectionService/CreateConnection", party, newConnection());
  return body.data.id;
}

/** A connection with a provider of chat messages, for what has to do with connections at all. */
function newConnection(): Json {
  return {
    name: freshWord(),
    provider_key: "slack",
    credentials: { webhook_url: "https://hooks.example.com/services/T0/B0/secret" },
  };
}
