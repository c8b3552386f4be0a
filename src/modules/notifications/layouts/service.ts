import type { Context } from "../../../chain/call.ts";
import { fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { lockFor, type RowImage, requireFound, type Sql, updateRefusal } from "../../../platform/db/index.ts";
import { requireJsonBytes } from "../../../platform/document/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { differingFields } from "../../../platform/records/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Partials } from "../partials/index.ts";
import type { LayoutChannel } from "./domain/channel.ts";
import {
  copyNames,
  detailFields,
  type Layout,
  type LayoutDetails,
  type LayoutId,
  layoutsMax,
  metadataBytesMax,
} from "./domain/layout.ts";
import { type Preview, preview } from "./layout-renderer.ts";
import { layoutStore } from "./store.ts";
import { checkTemplates } from "./template-check.ts";

/** Finds the keys of notification workflows that use a layout, in order. */
export type FindLayoutUses = (
  sql: Sql,
  tenantId: TenantId,
  layoutId: string,
  limit: number,
) => Promise<readonly string[]>;

export interface LayoutParts extends Pick<PlatformServices, "changes"> {
  readonly events: EventRecorder;
  readonly findLayoutUses: FindLayoutUses;
  readonly partials: Pick<Partials, "libraryOf" | "requirePartials">;
}

export interface NewLayout extends LayoutDetails {
  readonly channel: LayoutChannel;
  readonly isDefault: boolean;
}

export interface PreviewSample {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly subscriber: Readonly<Record<string, unknown>>;
}

const usesShownMax = 1000;
const usesInRefusalMax = 100;

export type LayoutService = ReturnType<typeof createLayoutService>;

export function createLayoutService({ events, changes, findLayoutUses, partials: stored }: LayoutParts) {
  const { requirePartials } = stored;

  async function getLayout({ sql, tenantId }: Context, id: string): Promise<Layout> {
    return requireFound(await layoutStore(sql).find(tenantId, id), "layout");
  }

  /** Locks the tenant's layouts against concurrent inserts and throws when the tenant has too many. */
  async function lockAndCheckLimit({ sql, tenantId }: Context): Promise<void> {
    const store = layoutStore(sql);
    await lockFor(sql, "layouts", tenantId);
    if ((await store.count(tenantId)) >= layoutsMax) {
      throw fail("FAILED_PRECONDITION", {
        public: `A tenant may have at most ${layoutsMax} layouts; delete one first.`,
      });
    }
  }

  async function add(context: Context, input: NewLayout, variables: readonly string[]): Promise<Layout> {
    const { tenantId, nowMs } = context;
    const now = new Date(nowMs);
    const id = ulid(nowMs) as LayoutId;
    const layout = { ...input, tenantId, id, variables, version: 1, createdAt: now, updatedAt: now };
    return layoutStore(context.sql).insert(layout);
  }

  return {
    getLayout,

    async createLayout(context: Context, input: NewLayout): Promise<Layout> {
      requireJsonBytes("metadata", input.metadata, metadataBytesMax);
      const { variables, partials } = checkTemplates(input);
      await requirePartials(context.sql, context.tenantId, "body", input.engine, partials);
      await lockAndCheckLimit(context);
      if (input.isDefault) {
        await layoutStore(context.sql).clearDefault(context.tenantId, input.channel, new Date(context.nowMs));
      }
      const layout = await add(context, input, variables);
      const { name, channel } = layout;
      await events.record(context, "layout.created", layout.id, { name, channel, is_default: layout.isDefault });
      await changes.invalidate(context);
      return layout;
    },

    /** Replaces a layout's details if the caller's version is current. */
    async updateLayout(context: Context, id: string, text: LayoutDetails, version: number): Promise<Layout> {
      requireJsonBytes("metadata", text.metadata, metadataBytesMax);
      const { variables, partials } = checkTemplates(text);
      const { sql, tenantId, nowMs } = context;
      await requirePartials(sql, tenantId, "body", text.engine, partials);
      const store = layoutStore(sql);
      const before = await store.lockRow(tenantId, id);
      const after = await store.update(tenantId, id, { ...text, variables }, version, new Date(nowMs));
      if (before === undefined || after === undefined) {
        throw updateRefusal(before && { recordVersion: before.version }, "layout");
      }
      const fields = differingFields(before, after, detailFields);
      await events.record(context, "layout.updated", id, { name: after.name, channel: after.channel, fields });
      await changes.invalidate(context);
      return after;
    },

    /** A layout as it would be after changes. Nothing is stored. */
    async draftLayout(context: Context, id: string, changes: Partial<LayoutDetails>): Promise<Layout> {
      const draft = { ...(await getLayout(context, id)), ...changes };
      return { ...draft, variables: checkTemplates(draft).variables };
    },

    /** Deletes a layout that no notification workflow uses. */
    async deleteLayout(context: Context, id: string): Promise<Layout> {
      const { sql, tenantId } = context;
      const store = layoutStore(sql);
      // Lock the layout before reading its uses, so that no concurrent transaction can start to use it.
      const layout = requireFound(await store.lockRow(tenantId, id), "layout");
      const uses = await findLayoutUses(sql, tenantId, id, usesInRefusalMax);
      if (uses.length > 0) {
        throw fail("IN_USE", {
          public: `The layout is in use by notification workflows: ${uses.slice(0, 5).join(", ")}${uses.length > 5 ? " and others" : ""}.`,
          extra: { workflow_keys: uses },
        });
      }
      await store.remove(tenantId, id);
      await events.record(context, "layout.deleted", id, { name: layout.name, channel: layout.channel });
      await changes.invalidate(context);
      return layout;
    },

    /** Makes a layout the only default of its channel. */
    async setDefaultLayout(context: Context, id: string): Promise<Layout> {
      const { sql, tenantId, nowMs } = context;
      const store = layoutStore(sql);
      await lockFor(sql, "layouts", tenantId);
      const layout = await getLayout(context, id);
      if (layout.isDefault) return layout;
      const now = new Date(nowMs);
      const previous = await store.clearDefault(tenantId, layout.channel, now);
      const made = requireFound(await store.setDefault(tenantId, id, now), "layout");
      const data = { name: made.name, channel: made.channel, previous_layout_id: previous ?? "" };
      await events.record(context, "layout.default_set", id, data);
      await changes.invalidate(context);
      return made;
    },

    /** Copies a layout under a free name. A copy is never the default. */
    async duplicateLayout(context: Context, id: string): Promise<Layout> {
      const { sql, tenantId } = context;
      const original = await getLayout(context, id);
      await lockAndCheckLimit(context);
      const names = copyNames(original.name);
      const taken = await layoutStore(sql).takenNames(tenantId, original.channel, names);
      const name = names.find((each) => !taken.has(each));
      if (name === undefined) {
        throw fail("ALREADY_EXISTS", { public: "All names for a copy of this layout are taken; rename a copy first." });
      }
      const copy = await add(context, { ...original, name, isDefault: false }, original.variables);
      const data = { name, channel: copy.channel, is_default: false, copy_of: original.id };
      await events.record(context, "layout.created", copy.id, data);
      await changes.invalidate(context);
      return copy;
    },

    /** Restores the row of a layout from its image; undefined deletes it. */
    async restoreLayout(context: Context, id: string, image: RowImage | undefined): Promise<void> {
      const store = layoutStore(context.sql);
      await lockFor(context.sql, "layouts", context.tenantId);
      await store.replaceRow(context.tenantId, id, image);
      await changes.invalidate(context);
    },

    async getLayoutUsage(context: Context, id: string): Promise<{ workflowKeys: readonly string[]; more: boolean }> {
      const { id: layoutId } = await getLayout(context, id);
      const uses = await findLayoutUses(context.sql, context.tenantId, layoutId, usesShownMax + 1);
      return { workflowKeys: uses.slice(0, usesShownMax), more: uses.length > usesShownMax };
    },

    /** Renders a layout around sample content. Nothing is stored. */
    async previewLayout(context: Context, id: string, { payload, subscriber }: PreviewSample): Promise<Preview> {
      const layout = await getLayout(context, id);
      const library = await stored.libraryOf(context.tenantId);
      const sample = { payload, subscriber, workflow_key: "preview", transaction_id: "preview" };
      return preview(layout, sample, library[layout.engine], context.nowMs);
    },
  };
}
