import { freshWord } from "../../harness/operations.ts";
import { type Known, must } from "../calls.ts";

let turn = 0;

function settingKey(): string {
  return ["events.retention_days", "api.max_concurrent_requests_per_tenant"][turn++ % 2]!;
}

/** Settings that exist, and texts that are valid keys. */
export const kernelRequests: Known = {
  "DiscoveryService/GetCapability": () => ({ id: "tenants" }),
  "ConfigService/SetConfigValue": () => ({ key: settingKey(), value: 100 + turn }),
  "ConfigService/ResetConfigValue": async (party) => {
    const key = settingKey();
    await must("ConfigService/SetConfigValue", party, { key, value: 90 });
    return { key };
  },
  "ApiKeyService/VerifyApiKey": async (party) => {
    const { body } = await must("ApiKeyService/CreateApiKey", party, { name: freshWord() });
    return { secret: body.data.secret };
  },
  // Starts after an event that has a successor, so that an open stream sends an event immediately.
  "EventService/SubscribeEvents": async (party) => {
    const { body } = await must("EventService/PublishEvent", party, { type: "matrix.first" });
    await must("EventService/PublishEvent", party, { type: "matrix.second" });
    return { cursor: body.data.id };
  },
};
