import type { BuiltinProviders } from "../catalogue/builtin-catalogue.ts";
import type { Provider } from "../domain/provider.ts";

/** Built-in providers that are already compiled. */
export function fixedProviders(providers: readonly Provider[]): BuiltinProviders {
  const byKey = new Map(providers.map((provider) => [provider.key, provider]));
  return {
    keys: new Set(byKey.keys()),
    get: (key) => byKey.get(key),
    all: async () => providers,
    withMessages: async () => providers.filter(({ messages }) => messages !== undefined),
  };
}
