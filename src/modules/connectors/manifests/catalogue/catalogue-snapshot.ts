import type { Action } from "../domain/language/action.ts";
import type { Trigger } from "../domain/language/trigger.ts";
import type { Provider } from "../domain/provider.ts";
import { type Searchable, SearchIndex, searchableText } from "./search.ts";

/** Where a manifest comes from. Built-in ones exist for all tenants. */
export type ManifestSource = "builtin" | "tenant" | "pack";

export interface ProviderEntry {
  readonly provider: Provider;
  readonly source: ManifestSource;
}

export interface ActionEntry {
  readonly provider: Provider;
  readonly action: Action;
}

export interface TriggerEntry {
  readonly provider: Provider;
  readonly trigger: Trigger;
}

/** All providers, actions and triggers at one time, sorted by key. It never changes. */
export class CatalogueSnapshot {
  readonly providers: SearchIndex<ProviderEntry>;
  readonly actions: SearchIndex<ActionEntry>;
  readonly triggers: SearchIndex<TriggerEntry>;
  readonly #providers: ReadonlyMap<string, ProviderEntry>;

  constructor(entries: readonly ProviderEntry[]) {
    this.#providers = new Map(entries.map((entry) => [entry.provider.key, entry]));
    const own = [...this.#providers.values()];
    this.providers = new SearchIndex(own.map(listedProvider));
    this.actions = new SearchIndex(own.flatMap(({ provider }) => listedActions(provider)));
    this.triggers = new SearchIndex(own.flatMap(({ provider }) => listedTriggers(provider)));
  }

  /** A snapshot with further providers, which hide those with the same key. */
  with(entries: readonly ProviderEntry[]): CatalogueSnapshot {
    return new CatalogueSnapshot([...this.#providers.values(), ...entries]);
  }
}

// The texts of built-in entries are computed once, although every tenant with manifests has its own snapshot.
const listedOf = new WeakMap<Provider, { actions: Searchable<ActionEntry>[]; triggers: Searchable<TriggerEntry>[] }>();

function listedOperations(provider: Provider) {
  let listed = listedOf.get(provider);
  if (listed === undefined) {
    const textOf = ({ key, title, description }: Action | Trigger) =>
      searchableText([key, title, provider.name], [description, provider.category]);
    listed = {
      actions: [...provider.actions.values()].map((action) => ({
        key: action.key,
        text: textOf(action),
        value: { provider, action },
      })),
      triggers: [...provider.triggers.values()].map((trigger) => ({
        key: trigger.key,
        text: textOf(trigger),
        value: { provider, trigger },
      })),
    };
    listedOf.set(provider, listed);
  }
  return listed;
}

function listedActions(provider: Provider): readonly Searchable<ActionEntry>[] {
  return listedOperations(provider).actions;
}

function listedTriggers(provider: Provider): readonly Searchable<TriggerEntry>[] {
  return listedOperations(provider).triggers;
}

function listedProvider(entry: ProviderEntry): Searchable<ProviderEntry> {
  const { key, name, description, category } = entry.provider;
  return { key, text: searchableText([key, name], [description, category]), value: entry };
}
