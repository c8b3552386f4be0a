import type { ConnectorCatalogService as Rpc } from "../../../../../gen/service/api/connector_catalog_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { notFound } from "../../../../platform/db/index.ts";
import type { PageRequest } from "../../../../platform/paging/index.ts";
import type { AuthMode } from "../domain/language/auth/modes.ts";
import type { Provider } from "../domain/provider.ts";
import type { Catalogue } from "./catalogue.ts";
import { fromAction, fromProvider, fromTrigger } from "./catalogue-message.ts";
import { type ConfigStates, providerRuntime, runtimeOf } from "./runtime-status.ts";
import { type SearchIndex, searchPage } from "./search.ts";

/** Reads the states of a tenant's provider configs. */
export type ReadConfigStates = (tenantId: TenantId) => Promise<ConfigStates>;

interface ListRequest extends PageRequest {
  readonly query: string;
  readonly category: string;
  readonly authMode: string;
}

/** Handlers of ConnectorCatalogService. */
export function catalogueHandlers(catalogue: Catalogue, configStates: ReadConfigStates): Handlers<typeof Rpc> {
  /** One page of the entries that match the query and the filter. */
  function list<Field extends string, T>(
    context: Context,
    field: Field,
    request: ListRequest,
    filter: readonly string[],
    index: SearchIndex<T>,
    matches: (value: T) => boolean,
  ) {
    return context.page(
      field,
      request,
      [request.query, ...filter],
      async (page) => searchPage(index, request.query, matches, page),
      ({ sortKey }) => sortKey,
    );
  }

  return {
    async listProviders(context, request) {
      const { category, authMode, runtimeStatus, source } = request;
      const { providers } = await catalogue.snapshot(context.tenantId);
      const configs = await configStates(context.tenantId);
      const filter = [category, authMode, runtimeStatus, source];
      const page = await list(context, "providers", request, filter, providers, (entry) => {
        if (source !== "" && entry.source !== source) return false;
        if (!matchesProvider(entry.provider, request)) return false;
        return runtimeStatus === "" || providerRuntime(entry.provider, configs).status === runtimeStatus;
      });
      return { ...page, providers: page.providers.map(({ value }) => fromProvider(value, configs)) };
    },

    async getProvider({ tenantId }, { key, version }) {
      const provider = await catalogue.provider(tenantId, key, version === "" ? undefined : version);
      if (provider === undefined) throw notFound("provider");
      const source = (await catalogue.sourceOf(tenantId, key)) ?? "tenant";
      return { provider: fromProvider({ provider, source }, await configStates(tenantId)) };
    },

    async listActions(context, request) {
      const { category, providerKey, effect, runtimeStatus, authMode } = request;
      const { actions } = await catalogue.snapshot(context.tenantId);
      const configs = await configStates(context.tenantId);
      const filter = [category, providerKey, effect, runtimeStatus, authMode];
      const page = await list(context, "actions", request, filter, actions, ({ provider, action }) => {
        if (providerKey !== "" && provider.key !== providerKey) return false;
        if (effect !== "" && action.mutation.effect !== effect) return false;
        if (!matchesProvider(provider, request)) return false;
        return runtimeStatus === "" || runtimeOf(provider, action, configs).status === runtimeStatus;
      });
      return { ...page, actions: page.actions.map(({ value }) => fromAction(value, configs)) };
    },

    async getAction({ tenantId }, { key }) {
      const entry = await catalogue.action(tenantId, key);
      if (entry === undefined) throw notFound("action");
      return { action: fromAction(entry, await configStates(tenantId)) };
    },

    async listTriggers(context, request) {
      const { category, providerKey, kind, runtimeStatus, authMode } = request;
      const { triggers } = await catalogue.snapshot(context.tenantId);
      const configs = await configStates(context.tenantId);
      const filter = [category, providerKey, kind, runtimeStatus, authMode];
      const page = await list(context, "triggers", request, filter, triggers, ({ provider, trigger }) => {
        if (providerKey !== "" && provider.key !== providerKey) return false;
        if (kind !== "" && trigger.kind !== kind) return false;
        if (!matchesProvider(provider, request)) return false;
        return runtimeStatus === "" || runtimeOf(provider, trigger, configs).status === runtimeStatus;
      });
      return { ...page, triggers: page.triggers.map(({ value }) => fromTrigger(value, configs)) };
    },

    async getTrigger({ tenantId }, { key }) {
      const entry = await catalogue.trigger(tenantId, key);
      if (entry === undefined) throw notFound("trigger");
      return { trigger: fromTrigger(entry, await configStates(tenantId)) };
    },
  };
}

function matchesProvider(provider: Provider, { category, authMode }: ListRequest): boolean {
  if (category !== "" && provider.category !== category) return false;
  return authMode === "" || provider.authModes.includes(authMode as AuthMode);
}
