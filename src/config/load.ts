import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { nearestName } from "../platform/text/index.ts";
import { crossCheck } from "./cross-check.ts";
import { ConfigError, type LoadedConfig, type Source } from "./loaded-config.ts";
import { environmentName, type Setting } from "./setting.ts";
import { type Config, type SettingKey, settings } from "./settings.ts";

interface Inputs {
  readonly file?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly overrides?: readonly string[];
}

/** Resolves every setting: defaults, then the file, the environment and `--set`. Reports all problems together. */
export function loadConfig({ file, environment = {}, overrides = [] }: Inputs): LoadedConfig {
  const values: Record<string, unknown> = {};
  const sources: Record<string, Source> = {};
  for (const [key, setting] of Object.entries(settings)) {
    values[key] = setting.default;
    sources[key] = "default";
  }
  const problems: string[] = [];
  const assign = (key: string, raw: unknown, source: Source, named = key) => {
    const setting = (settings as Record<string, Setting>)[key];
    if (setting === undefined) {
      problems.push(unknownSetting(named, Object.keys(settings)));
      return;
    }
    try {
      values[key] = parseValue(named, setting, raw);
      sources[key] = source;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
    }
  };

  if (file !== undefined) for (const [key, raw] of flatten(readYaml(file))) assign(key, raw, "file");
  const keyOfName = new Map(Object.keys(settings).map((key) => [environmentName(key), key]));
  for (const [name, raw] of Object.entries(environment)) {
    if (!name.startsWith("SERVICE_") || raw === undefined || raw === "") continue;
    const key = keyOfName.get(name);
    if (key === undefined) problems.push(unknownSetting(name, [...keyOfName.keys()]));
    else assign(key, raw, "environment", name);
  }
  for (const pair of overrides) {
    const at = pair.indexOf("=");
    if (at < 0) problems.push(`--set ${pair}: must be key=value (for example: --set log.level=debug)`);
    else assign(pair.slice(0, at), pair.slice(at + 1), "command line");
  }
  const loaded = { config: values as unknown as Config, sources: sources as Record<SettingKey, Source> };
  const checked = crossCheck(loaded);
  problems.push(...checked.problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return { ...checked.loaded, file };
}

function unknownSetting(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  const advice = nearest === undefined ? "; `service config show` lists them" : `, did you mean ${nearest}?`;
  return `${name}: there is no such setting${advice}`;
}

function readYaml(file: string): unknown {
  let content: string;
  try {
    content = readFileSync(file, "utf8");
  } catch (cause) {
    throw new ConfigError(`${file}: cannot be read: ${(cause as Error).message}`, { cause });
  }
  try {
    return parse(content) ?? {};
  } catch (cause) {
    throw new ConfigError(`${file}: is not valid YAML: ${(cause as Error).message}`, { cause });
  }
}

/** Yields nested maps as dotted keys. A setting whose own type is a map is yielded as a whole. */
function* flatten(node: unknown, prefix = ""): Generator<[string, unknown]> {
  const setting = (settings as Record<string, Setting>)[prefix];
  if (setting !== undefined || node === null || typeof node !== "object" || Array.isArray(node)) {
    yield [prefix, node];
    return;
  }
  for (const [key, value] of Object.entries(node)) yield* flatten(value, prefix === "" ? key : `${prefix}.${key}`);
}

function parseValue(name: string, setting: Setting, raw: unknown): unknown {
  switch (setting.type) {
    case "text":
      if (typeof raw !== "string") throw new ConfigError(`${name}: must be text; put numbers and booleans in quotes`);
      return raw;
    case "choice":
      if (!setting.choices!.includes(String(raw))) {
        throw new ConfigError(`${name}: must be one of ${setting.choices!.map((each) => each || '""').join(", ")}`);
      }
      return String(raw);
    case "boolean":
      if (raw === true || raw === "true") return true;
      if (raw === false || raw === "false") return false;
      throw new ConfigError(`${name}: must be true or false`);
    case "integer":
      return parseInteger(name, setting, raw);
    case "list":
      if (typeof raw === "string")
        return raw
          .split(",")
          .map((each) => each.trim())
          .filter((each) => each !== "");
      if (Array.isArray(raw) && raw.every((each) => typeof each === "string")) return raw;
      throw new ConfigError(`${name}: must be a list of texts (for example: [a, b] in YAML, or a,b on one line)`);
    case "map":
      return parseMap(name, raw);
  }
}

function parseInteger(name: string, setting: Setting, raw: unknown): number | string {
  const { minimum = -Infinity, maximum = Infinity, choices: [word] = [] } = setting;
  if (word !== undefined && raw === word) return word;
  const value = typeof raw === "string" && /^-?\d+$/.test(raw.trim()) ? Number(raw) : raw;
  if (typeof value !== "number" || !Number.isSafeInteger(value))
    throw new ConfigError(
      `${name}: must be a whole number${word === undefined ? "" : ` or ${word}`} (for example: ${word === undefined ? setting.default : minimum})`,
    );
  if (value < minimum || value > maximum) {
    const range = maximum === Infinity ? `at least ${minimum}` : `from ${minimum} to ${maximum}`;
    throw new ConfigError(`${name}: must be ${range}`);
  }
  return value;
}

function parseMap(name: string, raw: unknown): Record<string, string> {
  if (typeof raw === "string") {
    const pairs = raw.split(",").filter((each) => each.trim() !== "");
    return Object.fromEntries(
      pairs.map((pair) => {
        const at = pair.indexOf("=");
        if (at < 1)
          throw new ConfigError(`${name}: must be name=value pairs, separated by commas (for example: a=1,b=2)`);
        return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
      }),
    );
  }
  if (raw !== null && typeof raw === "object" && !Array.isArray(raw)) {
    return Object.fromEntries(Object.entries(raw).map(([key, value]) => [key, String(value)]));
  }
  throw new ConfigError(`${name}: must be a map (for example: {a: x, b: y} in YAML, or a=x,b=y on one line)`);
}
