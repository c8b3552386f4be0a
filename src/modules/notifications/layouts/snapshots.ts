import type { TenantId } from "../../../platform/access/index.ts";
import { createTenantCache, type Database, type TenantChanges } from "../../../platform/db/index.ts";
import type { Channel } from "../subscribers/index.ts";
import { layoutChannelOf } from "./domain/channel.ts";
import type { Layout } from "./domain/layout.ts";
import { layoutStore } from "./store.ts";

/** A cache entry; missing layouts are cached too. */
interface CacheEntry {
  readonly tenantId: TenantId;
  readonly layout: Layout | undefined;
}

// A layout has up to 512 KiB of text, though most have a few KiB.
const cacheEntriesMax = 500;

/** Creates the cache of layouts for rendering. A tenant's entries are dropped when its configuration changes. */
export function createLayoutSnapshots({ db, changes }: { db: Database; changes: TenantChanges }) {
  const cache = createTenantCache<string, CacheEntry>({
    changes,
    async load(key) {
      const [tenantId, channel] = key.split("|", 2) as [TenantId, Channel];
      return { tenantId, layout: await read(tenantId, channel, key.slice(`${tenantId}|${channel}|`.length)) };
    },
    tenantOf: (_key, { tenantId }) => tenantId,
    entriesMax: cacheEntriesMax,
  });

  async function read(tenantId: TenantId, channel: Channel, layoutId: string): Promise<Layout | undefined> {
    const named = layoutChannelOf(channel);
    const store = layoutStore(db.sql);
    if (layoutId === "") return store.findDefault(tenantId, named);
    const layout = await store.find(tenantId, layoutId);
    return layout?.channel === named ? layout : undefined;
  }

  return {
    /** A layout of a channel, or the channel's default if the id is empty; undefined when there is none. */
    async layoutFor(tenantId: TenantId, channel: Channel, layoutId: string): Promise<Layout | undefined> {
      return (await cache.get(`${tenantId}|${channel}|${layoutId}`)).layout;
    },
  };
}
