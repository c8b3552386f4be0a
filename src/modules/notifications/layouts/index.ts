/**
 * Layouts: what stands around notifications on a channel, such as the frame of every mail.
 *
 * placeholder: `{{ content }}`, where what a notification says is put in, once and as it is.
 * default: the layout of a channel for notifications that name none. version: counts the changes of a layout's text.
 */
import type { LayoutService as Rpc } from "../../../../gen/service/api/layout_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import type { Database } from "../../../platform/db/index.ts";
import { layoutHandlers } from "./handler.ts";
import { createLayoutService, type LayoutParts } from "./service.ts";
import { createLayoutSnapshots, type LayoutSnapshots } from "./snapshots.ts";
import { wrap } from "./wrapping.ts";

export type { LayoutChannel } from "./domain/channel.ts";
export type { Layout, LayoutId } from "./domain/layout.ts";
export type { UsesOf } from "./service.ts";

/** The door of the module. */
export interface Layouts extends LayoutSnapshots {
  readonly handlers: Handlers<typeof Rpc>;
  /** Puts content into a layout; throws a TemplateError when its templates do too much. */
  readonly wrap: typeof wrap;
}

interface Parts extends LayoutParts {
  /** What layouts are read into memory with, in the middle of calls. */
  readonly side: Database;
  readonly cursors: Cursors;
}

/** Makes the module. */
export function createLayouts({ side, cursors, events, changes, usesOf }: Parts): Layouts {
  const service = createLayoutService({ events, changes, usesOf });
  return {
    handlers: layoutHandlers(service, cursors),
    ...createLayoutSnapshots({ db: side, changes }),
    wrap,
  };
}
