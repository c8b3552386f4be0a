import { freshWord, type Json } from "../../harness/operations.ts";
import { type Known, must, type Party } from "../calls.ts";
import { makeConnection } from "./connections.ts";

/** Integrations, each with its own connection. */
export const integrationRequests: Known = {
  "IntegrationService/CreateIntegration": async (party) => ({ channel: "chat", ...(await newDetails(party)) }),
  "IntegrationService/UpdateIntegration": async (party) => {
    const details = await newDetails(party);
    const { body } = await must("IntegrationService/CreateIntegration", party, { channel: "chat", ...details });
    return { id: body.data.id, ...details };
  },
};

async function newDetails(party: Party): Promise<Json> {
  return { name: freshWord(), provider_key: "slack", connection_id: await makeConnection(party) };
}
