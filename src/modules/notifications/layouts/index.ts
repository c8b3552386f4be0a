/**
 * Layouts: templates that wrap notifications on a channel, such as the common frame of all mails.
 *
 * placeholder: `{{ content }}`, which is replaced by the rendered notification, unchanged.
 * default: the layout of a channel for notifications that name none. version: incremented by every update of a layout.
 */
import type { SimulateTriggersRequest } from "../../../../gen/service/api/notification_pb.ts";
import type { Context } from "../../../chain/call.ts";
import { withinField } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { definedFields } from "../../../platform/records/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { Channel } from "../subscribers/index.ts";
import type { Layout } from "./domain/layout.ts";
import { layoutHandlers } from "./handler.ts";
import { createLayoutRecords } from "./layout-records.ts";
import { wrap } from "./layout-renderer.ts";
import { createLayoutService, type LayoutParts } from "./service.ts";
import { createLayoutSnapshots } from "./snapshots.ts";
import { layoutStore } from "./store.ts";

export type { LayoutChannel } from "./domain/channel.ts";
export type { Layout, LayoutId } from "./domain/layout.ts";
export type { FindLayoutUses } from "./service.ts";

/** The module's public API. */
export type Layouts = ReturnType<typeof createLayouts>;

type Dependencies = LayoutParts & Pick<PlatformServices, "cacheLoadDb">;

export function createLayouts({ cacheLoadDb, events, changes, findLayoutUses, partials }: Dependencies) {
  const service = createLayoutService({ events, changes, findLayoutUses, partials });
  const { layoutFor } = createLayoutSnapshots({ db: cacheLoadDb, changes });
  return {
    handlers: layoutHandlers(service),
    packRecords: createLayoutRecords(service, findLayoutUses),
    layoutFor,
    /** Finds layouts as they would be after changes. Nothing is stored. */
    async draft(context: Context, { layouts }: Pick<SimulateTriggersRequest, "layouts">): Promise<typeof layoutFor> {
      const drafts = new Map<string, Layout>();
      for (const [at, { id, engine, body, textBody }] of layouts.entries()) {
        const changes = definedFields({ engine: engine as Layout["engine"] | undefined, body, textBody });
        const draft = service.draftLayout(context, id, changes).catch((error) => {
          throw withinField(`layouts[${at}]`, error);
        });
        drafts.set(id, await draft);
      }
      return async (tenantId: TenantId, channel: Channel, layoutId: string) => {
        const stored = await layoutFor(tenantId, channel, layoutId);
        return stored && (drafts.get(stored.id) ?? stored);
      };
    },
    /** The names of layouts that include a partial. */
    partialUses: (sql: Sql, tenantId: TenantId, pattern: string, limit: number) =>
      layoutStore(sql).namesWithPartial(tenantId, pattern, limit),
    /** Wraps content in a layout; throws a TemplateError when a template fails or exceeds its work budget. */
    wrap,
  };
}
