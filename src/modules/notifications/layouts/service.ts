import type { Context } from "../../../chain/call.ts";
import { fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { notFound, type Sql, type TenantChanges, updateRefusal } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { LayoutChannel } from "./domain/channel.ts";
import {
  changedNames,
  checkMetadata,
  copyNames,
  type Layout,
  type LayoutId,
  type LayoutText,
  layoutsMax,
} from "./domain/layout.ts";
import { layoutStore } from "./store.ts";
import { checkTemplates } from "./template-check.ts";
import { type Preview, preview } from "./wrapping.ts";

/** The keys of notification workflows that name a layout, in order. */
export type UsesOf = (sql: Sql, tenantId: TenantId, layoutId: string, limit: number) => Promise<readonly string[]>;

/** What the use cases stand on. */
export interface LayoutParts {
  readonly events: EventRecorder;
  readonly changes: TenantChanges;
  readonly usesOf: UsesOf;
}

/** What is asked for a new layout. */
export interface NewLayout extends LayoutText {
  readonly channel: LayoutChannel;
  readonly isDefault: boolean;
}

/** What a preview is rendered with. */
export interface Sample {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly subscriber: Readonly<Record<string, unknown>>;
}

const usesShownMax = 1000;
const usesInRefusalMax = 100;

/** The use cases of layouts. */
export type LayoutService = ReturnType<typeof createLayoutService>;

/** Makes the use cases of layouts. */
export function createLayoutService({ events, changes, usesOf }: LayoutParts) {
  /** Has every node render with what there is now. */
  async function changed({ sql, tenantId, afterCommit }: Context): Promise<void> {
    await changes.record(sql, tenantId);
    afterCommit(() => changes.published(tenantId));
  }

  async function getLayout({ sql, tenantId }: Context, id: string): Promise<Layout> {
    const layout = await layoutStore(sql).find(tenantId, id);
    if (layout === undefined) throw notFound("layout");
    return layout;
  }

  /** Takes the lock under which a tenant's layouts are counted and their names chosen. */
  async function makeRoom({ sql, tenantId }: Context): Promise<void> {
    const store = layoutStore(sql);
    await store.lock(tenantId);
    if ((await store.count(tenantId)) >= layoutsMax) {
      throw fail("FAILED_PRECONDITION", { public: `A tenant may have ${layoutsMax} layouts at most.` });
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
      checkMetadata(input.metadata);
      const variables = checkTemplates(input);
      await makeRoom(context);
      if (input.isDefault) {
        await layoutStore(context.sql).demoteDefault(context.tenantId, input.channel, new Date(context.nowMs));
      }
      const layout = await add(context, input, variables);
      const { name, channel } = layout;
      await events.record(context, "layout.created", layout.id, { name, channel, is_default: layout.isDefault });
      await changed(context);
      return layout;
    },

    /** Replaces the text of a layout that is at the version that the caller saw. */
    async updateLayout(context: Context, id: string, text: LayoutText, version: number): Promise<Layout> {
      checkMetadata(text.metadata);
      const variables = checkTemplates(text);
      const { sql, tenantId, nowMs } = context;
      const store = layoutStore(sql);
      const before = await store.hold(tenantId, id);
      const after = await store.update(tenantId, id, { ...text, variables }, version, new Date(nowMs));
      if (before === undefined || after === undefined) {
        throw updateRefusal(before && { recordVersion: before.version }, "layout");
      }
      const fields = changedNames(before, after);
      await events.record(context, "layout.updated", id, { name: after.name, channel: after.channel, fields });
      await changed(context);
      return after;
    },

    /** Deletes a layout that no notification workflow names. */
    async deleteLayout(context: Context, id: string): Promise<Layout> {
      const { sql, tenantId } = context;
      const store = layoutStore(sql);
      // Held before the uses are looked at: who is about to use it has been waited for, or waits.
      const layout = await store.hold(tenantId, id);
      if (layout === undefined) throw notFound("layout");
      const uses = await usesOf(sql, tenantId, id, usesInRefusalMax);
      if (uses.length > 0) {
        throw fail("IN_USE", {
          public: `The layout is in use by notification workflows: ${uses.slice(0, 5).join(", ")}${uses.length > 5 ? " and others" : ""}.`,
          extra: { workflow_keys: uses },
        });
      }
      await store.remove(tenantId, id);
      await events.record(context, "layout.deleted", id, { name: layout.name, channel: layout.channel });
      await changed(context);
      return layout;
    },

    /** Makes a layout the one for notifications of its channel that name none, and no other. */
    async setDefaultLayout(context: Context, id: string): Promise<Layout> {
      const { sql, tenantId, nowMs } = context;
      const store = layoutStore(sql);
      await store.lock(tenantId);
      const layout = await getLayout(context, id);
      if (layout.isDefault) return layout;
      const now = new Date(nowMs);
      const previous = await store.demoteDefault(tenantId, layout.channel, now);
      const made = await store.makeDefault(tenantId, id, now);
      if (made === undefined) throw notFound("layout");
      const data = { name: made.name, channel: made.channel, previous_layout_id: previous ?? "" };
      await events.record(context, "layout.default_set", id, data);
      await changed(context);
      return made;
    },

    /** Makes a copy under a name of its own, which is never the default. */
    async duplicateLayout(context: Context, id: string): Promise<Layout> {
      const { sql, tenantId } = context;
      const original = await getLayout(context, id);
      await makeRoom(context);
      const names = copyNames(original.name);
      const taken = await layoutStore(sql).taken(tenantId, original.channel, names);
      const name = names.find((each) => !taken.has(each));
      if (name === undefined) {
        throw fail("ALREADY_EXISTS", { public: "Every name for a copy of this layout is taken: rename a copy first." });
      }
      const copy = await add(context, { ...original, name, isDefault: false }, original.variables);
      const data = { name, channel: copy.channel, is_default: false, copy_of: original.id };
      await events.record(context, "layout.created", copy.id, data);
      await changed(context);
      return copy;
    },

    async getLayoutUsage(context: Context, id: string): Promise<{ workflowKeys: readonly string[]; more: boolean }> {
      const { id: layoutId } = await getLayout(context, id);
      const uses = await usesOf(context.sql, context.tenantId, layoutId, usesShownMax + 1);
      return { workflowKeys: uses.slice(0, usesShownMax), more: uses.length > usesShownMax };
    },

    /** Shows a layout around a stand-in. Nothing is stored. */
    async previewLayout(context: Context, id: string, { payload, subscriber }: Sample): Promise<Preview> {
      const layout = await getLayout(context, id);
      return preview(layout, { payload, subscriber, workflow_key: "preview", transaction_id: "preview" });
    },
  };
}
