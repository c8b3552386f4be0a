import type { Service } from "../../app/serve.ts";
import type { LoadedConfig } from "../../config/index.ts";

/**
 * What a started node tells whoever started it: where it is, how to get in and a first request.
 *
 * The admin key is printed by the start that made it and by no other, so that it is not in every log file. What is to
 * be pasted reads it from its file.
 */
export function formatStartMessage(
  { planes, admin }: Pick<Service, "planes" | "admin">,
  { config }: LoadedConfig,
): string {
  const { baseUrl } = planes;
  const lines = ["", `Switchyard is serving at ${baseUrl}`, `  reference   ${baseUrl}/docs`];
  if (config["notification.outbox.enabled"]) {
    lines.push(`  outbox      ${baseUrl}/outbox${admin?.isNew ? `#key=${admin.key}` : ""}`);
  }
  if (config["auth.api_key_enabled"]) lines.push(`  admin key   ${adminKeyText(admin)}`);
  const key = admin?.file === undefined ? "<your key>" : `$(cat ${quoted(admin.file)})`;
  lines.push(
    "",
    "Try it in another terminal:",
    `  curl -sS ${baseUrl}/api/v2/environments -H "X-API-Key: ${key}"`,
    "",
    "For the requests in README.md and docs/guides, paste this there first:",
    `  export ADDRESS=${baseUrl} KEY="${key}"`,
    "",
    "",
  );
  return lines.join("\n");
}

function adminKeyText(admin: Service["admin"]): string {
  if (admin === undefined) return "not known here: create one with another admin's key (docs/guides/access.md)";
  if (admin.file === undefined) return "the one in auth.bootstrap_api_key";
  return admin.isNew ? `${admin.key} (shown this once, kept in ${admin.file})` : `in ${admin.file}`;
}

/** A path as a shell takes it, also inside of double quotes and a command substitution. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
