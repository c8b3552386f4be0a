import type { LoadedConfig } from "../../config/index.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { resolveSettings, SettingsError, type SettingsOptions } from "../local/settings-options.ts";
import { checkBackups, checkCache, checkDatabase, checkFiles, checkIssuer, checkKeyring } from "./doctor-checks.ts";
import { type Finding, fails, ok, warn } from "./doctor-finding.ts";

interface DoctorOptions extends SettingsOptions {
  readonly json?: boolean;
  readonly strict?: boolean;
}

/** Checks the settings and every dependency of a start, and lists insecure settings. */
export async function doctorCommand(io: Io, options: DoctorOptions): Promise<number> {
  const findings = await runChecks(io, options);
  const count = (status: Finding["status"]) => findings.filter((each) => each.status === status).length;
  const sound = count("fail") === 0 && !(options.strict && count("warn") > 0);
  if (options.json) {
    io.out(`${JSON.stringify({ ok: sound, findings }, null, 2)}\n`);
  } else {
    for (const finding of findings) io.out(findingText(finding));
    io.out(`${count("ok")} ok, ${count("warn")} warnings, ${count("fail")} failures\n`);
  }
  return sound ? exitCodes.ok : exitCodes.failed;
}

async function runChecks(io: Io, options: DoctorOptions): Promise<Finding[]> {
  let loaded: LoadedConfig;
  try {
    loaded = await resolveSettings(io, options);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.problems.map((problem) => {
      const [check = "settings", ...why] = problem.split(": ");
      return fails(check, why.join(": "), "Fix this setting. docs/reference/settings.md lists the allowed values.");
    });
  }
  const { config } = loaded;
  return [
    ok("settings", `all settings are valid${loaded.file === undefined ? "" : ` (${loaded.file})`}`),
    ...checkFiles(config),
    ...(await checkDatabase(config)),
    ...(await checkBackups(config)),
    ...checkKeyring(config),
    ...(await checkCache(config)),
    ...(await checkIssuer(config)),
    ...(await checkInsecureSettings(loaded)),
  ];
}

async function checkInsecureSettings({ config, sources }: LoadedConfig): Promise<Finding[]> {
  const { insecureSettings, settings } = await import("../../config/index.ts");
  const found = insecureSettings.filter((each) => each.isInsecure(config));
  if (found.length === 0) return [ok("controls", "no insecure settings")];
  return found.map(({ key, risk, requirement }) => {
    const value = settings[key].secret ? "set" : JSON.stringify(config[key]);
    return warn(key, `${value} (${sources[key]}): ${risk}`, `${adviceOn(key, requirement)}, unless this is intended.`);
  });
}

function adviceOn(
  key: string,
  requirement: { readonly value: unknown } | { readonly rule: string } | undefined,
): string {
  if (requirement === undefined) return `Set ${key}`;
  return "value" in requirement ? `Set ${key} to ${requirement.value}` : `${key} ${requirement.rule}`;
}

function findingText({ status, check, message, remedy }: Finding): string {
  const head = `${status.padEnd(6)}${check}: ${message}\n`;
  return remedy === undefined ? head : `${head}      -> ${remedy}\n`;
}
