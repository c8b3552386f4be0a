/**
 * Preferences: on which channels whom notifications reach, and what they say there.
 *
 * notification workflow: what notifications of one kind say on each channel. layer: who has a say, from the author of a
 * workflow to the subscriber in a topic. row: what one layer says. read-only: stronger layers have no say.
 * resolver: decides from all rows at once; its rules stand in domain/resolver.ts.
 */
import type { NotificationWorkflowService as Rpc } from "../../../../gen/service/api/notification_workflow_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import type { Database, Sql } from "../../../platform/db/index.ts";
import type { Channel, Subscribers } from "../subscribers/index.ts";
import { type CheckTemplate, checkContents, type TemplateProblem } from "./domain/check-content.ts";
import type { Layers, SubscriberLayers } from "./domain/layers.ts";
import { type ReasonCode, type Resolution, resolverVersion, type TracedResolution } from "./domain/resolution.ts";
import { type ResolveInput, resolve, resolveWithTrace } from "./domain/resolver.ts";
import type { PreferenceSettings } from "./domain/settings.ts";
import type { ChannelContent, Engine, NotificationWorkflow } from "./domain/workflow.ts";
import { type LayersOf, layersOf } from "./layers-of.ts";
import { type PreferenceHandlers, preferenceHandlers } from "./preference-handler.ts";
import { createPreferenceService } from "./preference-service.ts";
import { workflowHandlers } from "./workflow-handler.ts";
import { createWorkflowService, type HasLayout, type WorkflowParts } from "./workflow-service.ts";
import { createWorkflowSnapshots, type WorkflowSnapshots } from "./workflow-snapshots.ts";
import { workflowStore } from "./workflow-store.ts";

export { storedLayout } from "./layout-store.ts";
export { compiledTemplate } from "./template-check.ts";
export type {
  ChannelContent,
  CheckTemplate,
  Engine,
  HasLayout,
  Layers,
  NotificationWorkflow,
  PreferenceSettings,
  ReasonCode,
  Resolution,
  ResolveInput,
  SubscriberLayers,
  TemplateProblem,
  TracedResolution,
};

/** The door of the module. */
export interface Preferences extends WorkflowSnapshots {
  readonly handlers: {
    /** What SubscriberService has on what subscribers want. */
    readonly subscribers: PreferenceHandlers;
    readonly workflows: Handlers<typeof Rpc>;
  };
  /** The set of rules that `resolve` decides by. */
  readonly resolverVersion: string;
  /**
   * What layers 2 to 5 hold for a workflow and many subscribers, in one statement. Who knows the topic says so: rows
   * for other topics are not read then.
   */
  readonly layersOf: LayersOf;
  /** Decides on every channel, without looking anything up. */
  resolve(input: ResolveInput): ReadonlyMap<Channel, Resolution>;
  /** Decides in the very same way, and tells how. */
  resolveWithTrace(input: ResolveInput): TracedResolution[];
  /** Refuses what is to be said on channels when it is no template, or too much; fields stand below a path. */
  checkContents(path: string, contents: NotificationWorkflow["channels"]): void;
  /** The keys of workflows that name a layout, in their order. */
  layoutUses(sql: Sql, tenantId: TenantId, layoutId: string, limit: number): Promise<string[]>;
}

interface Parts extends WorkflowParts {
  readonly db: Database;
  readonly cursors: Cursors;
  readonly subscribers: Pick<Subscribers, "find">;
}

/** Makes the module. */
export function createPreferences({ db, cursors, subscribers, ...parts }: Parts): Preferences {
  const { workflow } = createWorkflowSnapshots({ db, changes: parts.changes });
  const service = createPreferenceService({ events: parts.events, subscribers, workflow, layersOf });
  return {
    handlers: {
      subscribers: preferenceHandlers(service, cursors),
      workflows: workflowHandlers(createWorkflowService(parts), cursors),
    },
    resolverVersion,
    workflow,
    layersOf,
    resolve,
    resolveWithTrace,
    checkContents: (path, contents) => checkContents(path, contents, parts.checkTemplate),
    layoutUses: (sql, tenantId, layoutId, limit) => workflowStore(sql).keysWithLayout(tenantId, layoutId, limit),
  };
}
