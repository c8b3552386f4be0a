// The resolver alone: five channels, layers 1, 3 and 4 present, no conditions.
import { resolve } from "../../src/modules/notifications/preferences/domain/resolver.ts";

const settings = (channels, more = {}) => ({ all: undefined, readOnly: false, condition: "", channels, ...more });
const on = { enabled: true, readOnly: false, condition: "" };
const off = { ...on, enabled: false };

const input = {
  workflow: { workflowKey: "news", name: "news", channels: {}, preferences: settings({ email: on, sms: off }) },
  layers: {
    workflowKey: "news",
    user: undefined,
    own: [
      { layer: 3, workflowKey: "", topicKey: "", contextKeys: [], settings: settings({ push: off }) },
      { layer: 4, workflowKey: "news", topicKey: "", contextKeys: [], settings: settings({ email: off }) },
    ],
  },
  subscriber: { id: "s", externalId: "e", active: true, timezone: "", locale: "", data: {} },
  userId: "",
  topicKey: "",
  contextKeys: [],
  channels: undefined,
  payload: {},
  nowMs: Date.UTC(2026, 0, 1),
};

export function measureResolver(seconds) {
  let decisions = 0;
  const timed = (forMs) => {
    decisions = 0;
    const startedAt = performance.now();
    while (performance.now() - startedAt < forMs) {
      for (let i = 0; i < 1000; i++) resolve(input);
      decisions += 1000;
    }
    return decisions / ((performance.now() - startedAt) / 1000);
  };
  timed(300);
  return { perSecond: timed(seconds * 1000) };
}
