import type { LoadedConfig } from "../../config/index.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { resolveSettings, SettingsError, type SettingsOptions } from "../local/settings-options.ts";
import { checkCache, checkDatabase, checkFiles, checkIssuer, checkKeyring } from "./doctor-checks.ts";
import { type Finding, fails, ok, warn } from "./doctor-finding.ts";

interface DoctorOptions extends SettingsOptions {
  readonly json?: boolean;
  readonly strict?: boolean;
}

/** Checks everything that a start would need, and lists what stands open. */
export async function doctorCommand(io: Io, options: DoctorOptions): Promise<number> {
  const findings = await examine(io, options);
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

async function examine(io: Io, options: DoctorOptions): Promise<Finding[]> {
  let loaded: LoadedConfig;
  try {
    loaded = await resolveSettings(io, options);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.problems.map((problem) => {
      const [check = "settings", ...why] = problem.split(": ");
      return fails(
        check,
        why.join(": "),
        "Correct this setting; docs/reference/settings.md lists what each one takes.",
      );
    });
  }
  const { config } = loaded;
  return [
    ok("settings", `every setting resolves${loaded.file === undefined ? "" : ` (${loaded.file})`}`),
    ...checkFiles(config),
    ...(await checkDatabase(config)),
    ...checkKeyring(config),
    ...(await checkCache(config)),
    ...(await checkIssuer(config)),
    ...(await openControls(loaded)),
  ];
}

async function openControls({ config, sources }: LoadedConfig): Promise<Finding[]> {
  const { insecureSettings, settings } = await import("../../config/index.ts");
  const open = insecureSettings.filter((each) => each.isInsecure(config));
  if (open.length === 0) return [ok("controls", "no control stands open")];
  return open.map(({ key, risk }) => {
    const value = settings[key].secret ? "set" : JSON.stringify(config[key]);
    return warn(key, `${value} (${sources[key]}): ${risk}`, `Change ${key} unless this is meant.`);
  });
}

function findingText({ status, check, message, remedy }: Finding): string {
  const head = `${status.padEnd(6)}${check}: ${message}\n`;
  return remedy === undefined ? head : `${head}      -> ${remedy}\n`;
}
