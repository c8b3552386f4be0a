import { environmentName, type LoadedConfig, type SettingKey, settings } from "../../config/index.ts";
import type { Io } from "../io.ts";
import { type FormOptions, widthOf } from "../output/response-text.ts";
import { tableText } from "../output/table.ts";
import { resolveSettings, type SettingsOptions } from "./settings-options.ts";

const mask = "********";

/** Shows every setting with its value and source. */
export async function configShowCommand(io: Io, options: SettingsOptions & FormOptions): Promise<number> {
  const loaded = await resolveSettings(io, options);
  const keys = Object.keys(settings) as SettingKey[];
  if (options.json) {
    const shown = keys.map((key) => ({
      key,
      value: shownValue(loaded, key),
      source: loaded.sources[key],
      environment: environmentName(key),
    }));
    io.out(`${JSON.stringify({ file: loaded.file, settings: shown }, null, 2)}\n`);
    return 0;
  }
  if (loaded.file !== undefined) io.err(`Settings file: ${loaded.file}\n`);
  const rows = keys.map((key) => [key, valueText(shownValue(loaded, key)), loaded.sources[key]]);
  const headings = ["key", "value", "source"];
  const text = tableText(headings, rows, widthOf(io, options)) ?? tableText(headings, rows, Number.POSITIVE_INFINITY);
  io.out(`${text}\n`);
  return 0;
}

/** A setting's value. Secrets are masked; only their names are shown. */
function shownValue({ config }: LoadedConfig, key: SettingKey): unknown {
  const value: unknown = config[key];
  if (!settings[key].secret) return value;
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.keys(value).map((name) => [name, mask]));
  }
  return value === "" ? "" : mask;
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value === "object" && value !== null) {
    return Object.entries(value)
      .map(([name, each]) => `${name}=${each}`)
      .join(", ");
  }
  return String(value);
}
