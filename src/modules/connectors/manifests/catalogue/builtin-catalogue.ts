import { readdirSync, readFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { JsonObject } from "../../../../platform/document/index.ts";
import { compileManifest } from "../domain/language/compile-manifest.ts";
import type { Provider } from "../domain/provider.ts";

/** The providers that every tenant has. */
export interface BuiltinProviders {
  readonly keys: ReadonlySet<string>;
  /** One provider. It is compiled when it is first used, in some milliseconds. */
  get(key: string): Provider | undefined;
  /** All providers, sorted by key. Other work continues between two of them. */
  all(): Promise<readonly Provider[]>;
  /** Those that send notifications, sorted by key. */
  withMessages(): Promise<readonly Provider[]>;
}

const folder = new URL("../../../../../gen/connectors/", import.meta.url);

/** Reads the built-in providers from their generated form. */
export function createBuiltinProviders(from: URL = folder): BuiltinProviders {
  const keys = new Set(
    readdirSync(from)
      .filter((name) => name.endsWith(".json"))
      .map((name) => name.slice(0, -".json".length))
      .sort(),
  );
  const compiled = new Map<string, Provider>();
  let senders: Promise<readonly Provider[]> | undefined;

  function get(key: string): Provider | undefined {
    const known = compiled.get(key);
    if (known !== undefined || !keys.has(key)) return known;
    const provider = compile(key, readFileSync(new URL(`${key}.json`, from), "utf8"));
    compiled.set(key, provider);
    return provider;
  }

  async function loadSenders(): Promise<readonly Provider[]> {
    const found: Provider[] = [];
    for (const key of keys) {
      // Others are not compiled.
      const text = readFileSync(new URL(`${key}.json`, from), "utf8");
      if (!text.includes('"notifications":')) continue;
      const provider = get(key)!;
      if (provider.messages !== undefined) found.push(provider);
      await nextTurn();
    }
    return found;
  }

  return {
    keys,
    get,
    withMessages() {
      senders ??= loadSenders().catch((error) => {
        // The next call reads the files again.
        senders = undefined;
        throw error;
      });
      return senders;
    },
    async all() {
      for (const key of keys) {
        if (compiled.has(key)) continue;
        get(key);
        await nextTurn();
      }
      return [...keys].map((key) => compiled.get(key)!);
    },
  };
}

function compile(key: string, text: string): Provider {
  const { digest, document } = JSON.parse(text) as { digest: string; document: JsonObject };
  const { provider, violations } = compileManifest(document, digest);
  if (provider !== undefined) return provider;
  const [first] = violations;
  throw new Error(`The built-in manifest ${key} is invalid: ${first?.path} ${first?.message}`);
}
