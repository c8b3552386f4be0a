/**
 * Layouts: templates that wrap notifications on a channel, such as the common frame of all mails.
 *
 * placeholder: `{{ content }}`, which is replaced by the rendered notification, unchanged.
 * default: the layout of a channel for notifications that name none. version: incremented by every update of a layout.
 */
import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { PlatformServices } from "../../area.ts";
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
  return {
    handlers: layoutHandlers(service),
    packRecords: createLayoutRecords(service, findLayoutUses),
    ...createLayoutSnapshots({ db: cacheLoadDb, changes }),
    /** The names of layouts that include a partial. */
    partialUses: (sql: Sql, tenantId: TenantId, pattern: string, limit: number) =>
      layoutStore(sql).namesWithPartial(tenantId, pattern, limit),
    /** Wraps content in a layout; throws a TemplateError when a template fails or exceeds its work budget. */
    wrap,
  };
}
