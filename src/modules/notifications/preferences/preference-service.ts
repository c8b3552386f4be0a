import type { Context } from "../../../chain/call.ts";
import { fail } from "../../../errors/index.ts";
import { lockFor, notFound, requireFound } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Subscriber, Subscribers } from "../subscribers/index.ts";
import { type Preference, type RowKeys, rowsMax } from "./domain/layers.ts";
import { checkPayload, checkSettings, rowKeys } from "./domain/preference-validation.ts";
import type { TracedResolution } from "./domain/resolution.ts";
import { type ResolveInput, resolveWithTrace } from "./domain/resolver.ts";
import type { PreferenceSettings } from "./domain/settings.ts";
import { readLayers } from "./layer-reader.ts";
import type { WorkflowLookup } from "./lookup/workflow-lookup.ts";
import type { WorkflowSnapshots } from "./lookup/workflow-snapshots.ts";
import { preferenceStore } from "./preference-store.ts";

/** The notification whose decisions are previewed. */
export interface PreviewInput
  extends Pick<ResolveInput, "userId" | "topicKey" | "contextKeys" | "channels" | "payload"> {
  readonly workflowKey: string;
  /** The time of the decisions. */
  readonly nowMs: number;
}

interface Dependencies {
  readonly events: EventRecorder;
  readonly subscribers: Pick<Subscribers, "find">;
  readonly workflow: WorkflowSnapshots["workflow"];
  readonly findWorkflow: WorkflowLookup;
}

export type PreferenceService = ReturnType<typeof createPreferenceService>;

export function createPreferenceService({ events, subscribers, workflow, findWorkflow }: Dependencies) {
  /** A subscriber, active or not. */
  async function getSubscriber({ sql, tenantId }: Context, id: string): Promise<Subscriber> {
    return requireFound(await subscribers.find(sql, tenantId, id), "subscriber");
  }

  return {
    getSubscriber,

    /** Sets one row. Read-only settings of weaker layers are not checked here, because they may change at any time. */
    async upsertPreference(
      context: Context,
      subscriberId: string,
      { layer, ...keys }: Omit<RowKeys, "layer"> & { readonly layer: number | undefined },
      settings: PreferenceSettings,
    ): Promise<Preference> {
      const { sql, tenantId, nowMs } = context;
      const { id: owner } = await getSubscriber(context, subscriberId);
      const wanted = rowKeys(layer, keys);
      checkSettings("", settings);
      if (wanted.workflowKey !== "") await findWorkflow(sql, context, wanted.workflowKey);
      const store = preferenceStore(sql);
      await lockFor(sql, "preferences", tenantId, owner);
      const set = await store.upsert(tenantId, owner, ulid(nowMs), wanted, settings, new Date(nowMs));
      if (set === undefined) {
        throw fail("FAILED_PRECONDITION", { public: `A subscriber may have at most ${rowsMax} preference rows.` });
      }
      const data = {
        preference_id: set.id,
        layer: set.layer,
        workflow_key: set.workflowKey,
        topic_key: set.topicKey,
      };
      await events.record(context, "subscriber.preference.set", owner, data);
      return set;
    },

    /** Previews the decisions with the current settings. The payload is never stored. */
    async previewPreferences(
      { sql, tenantId }: Context,
      subscriberId: string,
      { workflowKey, ...previewed }: PreviewInput,
    ): Promise<TracedResolution[]> {
      checkPayload(previewed.payload);
      const { userId, topicKey } = previewed;
      const [subscriber, stored, layers] = await Promise.all([
        subscribers.find(sql, tenantId, subscriberId),
        workflow(tenantId, workflowKey),
        readLayers(sql, tenantId, { workflowKey, userId, topicKey }, [subscriberId]),
      ]);
      if (subscriber === undefined) throw notFound("subscriber");
      return resolveWithTrace({ ...previewed, workflow: stored, layers: layers.of(subscriber.id), subscriber });
    },
  };
}
