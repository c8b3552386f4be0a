import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import {
  ChannelDecisionSchema,
  type Preference as PreferenceMessage,
  PreferenceSchema,
} from "../../../../gen/service/api/preference_pb.ts";
import {
  ListPreferencesResponseSchema,
  PreviewPreferencesResponseSchema,
  type SubscriberService as Rpc,
  UpsertPreferenceResponseSchema,
} from "../../../../gen/service/api/subscriber_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { stampFields } from "../../../platform/records/index.ts";
import type { Channel } from "../subscribers/index.ts";
import type { Preference } from "./domain/layers.ts";
import { resolverVersion, type TracedResolution } from "./domain/resolution.ts";
import type { PreferenceService } from "./preference-service.ts";
import { preferenceStore } from "./preference-store.ts";
import { fromSettings, toSettings } from "./settings-message.ts";

/** The operations of SubscriberService on preferences. */
type PreferenceHandlers = Pick<Handlers<typeof Rpc>, "listPreferences" | "upsertPreference" | "previewPreferences">;

export function preferenceHandlers(service: PreferenceService, cursors: Cursors): PreferenceHandlers {
  return {
    async listPreferences(context, request) {
      const { tenantId, operation, sql } = context;
      const { id } = await service.getSubscriber(context, request.subscriberId);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [id] },
        (preference: Preference) => preference.id,
        (wanted) => preferenceStore(sql).list(tenantId, id, wanted),
      );
      return create(ListPreferencesResponseSchema, { ...page, preferences: page.items.map(fromPreference) });
    },

    async upsertPreference(context, { subscriberId, layer, workflowKey, topicKey, contextKeys, ...settings }) {
      const keys = { layer, workflowKey, topicKey, contextKeys };
      const preference = await service.upsertPreference(context, subscriberId, keys, toSettings(settings));
      return create(UpsertPreferenceResponseSchema, { preference: fromPreference(preference) });
    },

    async previewPreferences(context, { subscriberId, workflowKey, userId, topicKey, contextKeys, ...request }) {
      const channels = request.channels.length === 0 ? undefined : (request.channels as Channel[]);
      const payload = request.payloadContext ?? {};
      const nowMs = request.at === undefined ? context.nowMs : timestampMs(request.at);
      const previewed = { workflowKey, userId, topicKey, contextKeys, channels, payload, nowMs };
      const decisions = await service.previewPreferences(context, subscriberId, previewed);
      return create(PreviewPreferencesResponseSchema, { resolverVersion, channels: decisions.map(fromDecision) });
    },
  };
}

function fromPreference(preference: Preference): PreferenceMessage {
  return create(PreferenceSchema, {
    id: preference.id,
    tenantId: preference.tenantId,
    subscriberId: preference.subscriberId,
    layer: preference.layer,
    workflowKey: preference.workflowKey,
    topicKey: preference.topicKey,
    contextKeys: [...preference.contextKeys],
    ...fromSettings(preference.settings),
    ...stampFields(preference),
  });
}

function fromDecision({ channel, allowed, reasonCode, winningLayer, heldUntilMs, trace }: TracedResolution) {
  return create(ChannelDecisionSchema, {
    channel,
    allowed,
    reasonCode,
    winningLayer,
    heldUntil: heldUntilMs === undefined ? undefined : timestampFromMs(heldUntilMs),
    trace: trace.map((item) => ({ ...item })),
  });
}
