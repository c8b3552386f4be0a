/**
 * Preferences: which channels reach which subscriber, and the content of notifications on each channel.
 *
 * notification workflow: the content of one kind of notification on each channel. layer: a source of preferences, from
 * the workflow's default to the subscriber's setting in a topic. row: the settings of one layer. read-only: stronger
 * layers cannot change the channel. resolver: decides each channel from all rows; domain/resolver.ts states its rules.
 * step: what happens to a notification before or between its messages.
 */

import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { Subscribers } from "../subscribers/index.ts";
import { type CheckTemplate, checkContents, type TemplateFailure } from "./domain/content-validation.ts";
import type { Layers, SubscriberLayers } from "./domain/layers.ts";
import { localizedContent } from "./domain/localized-content.ts";
import { attachmentBytesMax, describeAttachment, toAttached } from "./domain/mail-attachments.ts";
import { type ReasonCode, type Resolution, resolverVersion, type TracedResolution } from "./domain/resolution.ts";
import { type ResolveInput, resolve, resolveWithTrace } from "./domain/resolver.ts";
import type { PreferenceSettings } from "./domain/settings.ts";
import {
  type InboxState,
  longestRunMs,
  type Step,
  type StepAction,
  type StepWait,
  stepVariables,
  waitSecondsMax,
} from "./domain/step.ts";
import { nextTimeMs } from "./domain/wall-clock.ts";
import type { ChannelContent, Engine, MailAttachment, NotificationWorkflow } from "./domain/workflow.ts";
import { readLayers } from "./layer-reader.ts";
import { comparedKeysMax, createWorkflowLookup } from "./lookup/workflow-lookup.ts";
import { createWorkflowSnapshots } from "./lookup/workflow-snapshots.ts";
import { createPreferenceDraft } from "./preference-draft.ts";
import { preferenceHandlers } from "./preference-handler.ts";
import { createPreferenceService } from "./preference-service.ts";
import { workflowHandlers } from "./workflow-handler.ts";
import { createWorkflowRecords } from "./workflow-records.ts";
import { createWorkflowService, type HasLayout, type WorkflowParts } from "./workflow-service.ts";
import { findWorkflows, workflowStore } from "./workflow-store.ts";

export { hasStoredLayout } from "./layout-store.ts";
export { checkTemplateSyntax } from "./template-check.ts";
export { toAttachments } from "./workflow-handler.ts";
export type {
  ChannelContent,
  CheckTemplate,
  Engine,
  HasLayout,
  InboxState,
  Layers,
  MailAttachment,
  NotificationWorkflow,
  PreferenceSettings,
  ReasonCode,
  Resolution,
  ResolveInput,
  Step,
  StepAction,
  StepWait,
  SubscriberLayers,
  TemplateFailure,
  TracedResolution,
};
export {
  attachmentBytesMax,
  describeAttachment,
  localizedContent,
  longestRunMs,
  nextTimeMs,
  stepVariables,
  toAttached,
  waitSecondsMax,
};

/** The module's public API. */
export type Preferences = ReturnType<typeof createPreferences>;

interface Dependencies extends Pick<PlatformServices, "db">, WorkflowParts {
  readonly subscribers: Pick<Subscribers, "find">;
  /** Whether requests may name a workflow that does not exist, if their tenant has not decided it. */
  readonly allowUnknownWorkflows: boolean;
}

export function createPreferences({ db, subscribers, allowUnknownWorkflows, ...parts }: Dependencies) {
  const { workflow } = createWorkflowSnapshots({ db, changes: parts.changes });
  const findWorkflow = createWorkflowLookup({ workflow, allowUnknownWorkflows });
  const service = createPreferenceService({ events: parts.events, subscribers, workflow, findWorkflow });
  const workflowService = createWorkflowService(parts);
  return {
    handlers: {
      /** SubscriberService operations on preferences. */
      subscribers: preferenceHandlers(service),
      workflows: workflowHandlers(workflowService, parts.partials),
    },
    /** The notification workflows as records of packs. */
    packRecords: createWorkflowRecords(workflowService),
    /** The version of the rules that `resolve` uses. */
    resolverVersion,
    workflow,
    /** Workflows and layers as they would be after changes. Nothing is stored. */
    draft: createPreferenceDraft({ workflow, checkContent: workflowService.checkContent }),
    /**
     * Reads layers 2 to 5 for a workflow and many subscribers in one statement. If the topic is given, rows for other
     * topics are not read.
     */
    readLayers,
    /** Decides every channel without reading from the database. */
    resolve,
    /** Decides every channel like `resolve` and returns the trace of each decision. */
    resolveWithTrace,
    /** Throws when content has an invalid template or too much data. Field names in errors start with the path. */
    checkContents: (path: string, contents: NotificationWorkflow["channels"]) =>
      checkContents(path, contents, parts.checkTemplate),
    /** Finds the workflow that a request names, or refuses its key. */
    findWorkflow,
    /** Finds which of some keys belong to notification workflows. */
    findWorkflows,
    /** The keys of workflows that include a partial, in order. */
    partialUses: (sql: Sql, tenantId: TenantId, pattern: string, limit: number) =>
      workflowStore(sql).keysWithPartial(tenantId, pattern, limit),
    /** A workflow as it is stored now. */
    storedWorkflow: (sql: Sql, tenantId: TenantId, workflowKey: string) =>
      workflowStore(sql).find(tenantId, workflowKey),
    /** The keys of up to 1,000 workflows, in order. */
    workflowKeys: (sql: Sql, tenantId: TenantId) => workflowStore(sql).keys(tenantId, comparedKeysMax),
    /** The keys of workflows that use a layout, in order. */
    layoutUses: (sql: Sql, tenantId: TenantId, layoutId: string, limit: number) =>
      workflowStore(sql).keysWithLayout(tenantId, layoutId, limit),
  };
}
