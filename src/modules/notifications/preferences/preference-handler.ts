import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { SubscriberService as Rpc } from "../../../../gen/service/api/subscriber_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Channel } from "../subscribers/index.ts";
import type { Preference } from "./domain/layers.ts";
import { resolverVersion, type TracedResolution } from "./domain/resolution.ts";
import type { PreferenceService } from "./preference-service.ts";
import { preferenceStore } from "./preference-store.ts";
import { fromSettings, toSettings } from "./settings-message.ts";

type PreferenceHandlers = Pick<Handlers<typeof Rpc>, "listPreferences" | "upsertPreference" | "previewPreferences">;

export function preferenceHandlers(service: PreferenceService): PreferenceHandlers {
  return {
    async listPreferences(context, request) {
      const { id } = await service.getSubscriber(context, request.subscriberId);
      const page = await context.page("preferences", request, [id], (wanted) =>
        preferenceStore(context.sql).list(context.tenantId, id, wanted),
      );
      return { ...page, preferences: page.preferences.map(fromPreference) };
    },

    async upsertPreference(context, { subscriberId, layer, workflowKey, topicKey, contextKeys, ...settings }) {
      const keys = { layer, workflowKey, topicKey, contextKeys };
      const preference = await service.upsertPreference(context, subscriberId, keys, toSettings(settings));
      return { preference: fromPreference(preference) };
    },

    async previewPreferences(context, { subscriberId, workflowKey, userId, topicKey, contextKeys, ...request }) {
      const channels = request.channels.length === 0 ? undefined : (request.channels as Channel[]);
      const payload = request.payloadContext ?? {};
      const nowMs = request.at === undefined ? context.nowMs : timestampMs(request.at);
      const previewed = { workflowKey, userId, topicKey, contextKeys, channels, payload, nowMs };
      const decisions = await service.previewPreferences(context, subscriberId, previewed);
      return { resolverVersion, channels: decisions.map(fromDecision) };
    },
  };
}

const fromPreference = (preference: Preference) => ({ ...preference, ...fromSettings(preference.settings) });

const fromDecision = ({ heldUntilMs, ...decision }: TracedResolution) => ({
  ...decision,
  heldUntil: heldUntilMs === undefined ? undefined : new Date(heldUntilMs),
});
