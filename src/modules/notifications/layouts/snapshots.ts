import type { TenantId } from "../../../platform/access/index.ts";
import { createTenantCache, type Database, type TenantChanges } from "../../../platform/db/index.ts";
import type { Channel } from "../subscribers/index.ts";
import { layoutChannelOf } from "./domain/channel.ts";
import type { Layout } from "./domain/layout.ts";
import { layoutStore } from "./store.ts";

/** Layouts as notifications see them, from memory for most. */
export interface LayoutSnapshots {
  /** A layout of a channel, or with an empty id the channel's default; undefined when there is none. */
  layoutFor(tenantId: TenantId, channel: Channel, layoutId: string): Promise<Layout | undefined>;
}

/** What is kept: that there is no such layout is worth knowing too. */
interface Kept {
  readonly tenantId: TenantId;
  readonly layout: Layout | undefined;
}

// A layout has up to half a megabyte of text, though few have more than some kilobytes.
const keptMax = 500;

/** Keeps layouts until their tenant changes. */
export function createLayoutSnapshots({ db, changes }: { db: Database; changes: TenantChanges }): LayoutSnapshots {
  const cache = createTenantCache<string, Kept>({
    changes,
    async load(key) {
      const [tenantId, channel] = key.split("|", 2) as [TenantId, Channel];
      return { tenantId, layout: await read(tenantId, channel, key.slice(`${tenantId}|${channel}|`.length)) };
    },
    tenantOf: (_key, { tenantId }) => tenantId,
    entriesMax: keptMax,
  });

  async function read(tenantId: TenantId, channel: Channel, layoutId: string): Promise<Layout | undefined> {
    const named = layoutChannelOf(channel);
    const store = layoutStore(db.sql);
    if (layoutId === "") return store.findDefault(tenantId, named);
    const layout = await store.find(tenantId, layoutId);
    return layout?.channel === named ? layout : undefined;
  }

  return {
    async layoutFor(tenantId, channel, layoutId) {
      return (await cache.get(`${tenantId}|${channel}|${layoutId}`)).layout;
    },
  };
}
