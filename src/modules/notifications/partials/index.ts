/**
 * Partials: pieces of templates that notification workflows, layouts and other partials include.
 *
 * library: the partials of a tenant, in memory. use: a template that includes a partial.
 */
import type { TenantId } from "../../../platform/access/index.ts";
import { createTenantCache } from "../../../platform/db/index.ts";
import type { Engine, FindPartial } from "../../../platform/templates/index.ts";
import type { PlatformServices } from "../../area.ts";
import { partialHandlers } from "./handler.ts";
import { createPartialService, type PartialParts } from "./service.ts";
import { partialStore } from "./store.ts";

export type { FindPartialUses } from "./service.ts";
export { partialUsePattern } from "./use-pattern.ts";

/** The partials of a tenant, as templates of each language see them. */
export type PartialLibrary = Readonly<Record<Engine, FindPartial>>;

/** The module's public API. */
export type Partials = ReturnType<typeof createPartials>;

type Dependencies = PartialParts & Pick<PlatformServices, "cacheLoadDb">;

/** Creates the module. A tenant's partials are dropped from memory when its configuration changes. */
export function createPartials({ cacheLoadDb, ...parts }: Dependencies) {
  const service = createPartialService(parts);
  const libraries = createTenantCache<TenantId, PartialLibrary>({
    changes: parts.changes,
    async load(tenantId) {
      const partials = await partialStore(cacheLoadDb.sql).all(tenantId);
      const inLanguage = (engine: Engine): FindPartial => {
        const bodies = new Map(partials.flatMap((each) => (each.engine === engine ? [[each.key, each.body]] : [])));
        return (name) => bodies.get(name);
      };
      return { handlebars: inLanguage("handlebars"), liquid: inLanguage("liquid") };
    },
    tenantOf: (tenantId) => tenantId,
  });
  return {
    handlers: partialHandlers(service),
    /** The partials of a tenant, or a promise when they must be loaded first. */
    libraryOf: (tenantId: TenantId) => libraries.get(tenantId),
    /** Throws when a template includes a partial that does not exist. */
    requirePartials: service.requirePartials,
  };
}
