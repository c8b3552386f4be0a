import { readdirSync, readFileSync } from "node:fs";
import { readYaml } from "../../../../platform/document-text/index.ts";
import { compileManifest } from "../domain/language/compile-manifest.ts";
import type { Provider } from "../domain/provider.ts";

const folder = new URL("../../../../../connectors/providers/", import.meta.url);

/** Loads the built-in providers from their sources, for tests. Throws if one is invalid. */
export function loadBuiltinProviders(from: URL = folder): readonly Provider[] {
  const names = readdirSync(from)
    .filter((name) => name.endsWith(".yaml"))
    .sort();
  return names.map((name) => loadProvider(name, readFileSync(new URL(name, from), "utf8")));
}

function loadProvider(name: string, text: string): Provider {
  const yaml = readYaml(text);
  if ("problem" in yaml) throw new Error(`${name}: line ${yaml.position?.line ?? 1}: ${yaml.problem}`);
  const { provider, violations } = compileManifest(yaml.value);
  if (provider === undefined) {
    const lines = violations.map(({ path, message }) => `${name}: ${path} ${message}`);
    throw new Error(lines.join("\n"));
  }
  if (`${provider.key}.yaml` !== name) throw new Error(`${name}: key must be the name of the file`);
  return provider;
}
