import type { StartReport } from "../../app/processes/process-calls.ts";
import type { Config } from "../../config/index.ts";

/**
 * Formats the message of a started node: its address, the admin key and a first request.
 *
 * The admin key is printed only by the start that created it, so that it is not in every log file. The commands in the
 * message read it from its file.
 */
export function formatStartMessage(
  { baseUrl, admin, loginLink, approverLink }: StartReport,
  config: Config,
  demo?: Pick<StartReport, "loginLink" | "approverLink">,
): string {
  const lines = [
    "",
    `Switchyard is serving at ${baseUrl}`,
    `  console     ${baseUrl}/console`,
    `  reference   ${baseUrl}/docs`,
  ];
  if (config["notification.outbox.enabled"]) {
    lines.push(`  outbox      ${baseUrl}/outbox${admin?.isNew ? `#key=${admin.key}` : ""}`);
  }
  if (demo !== undefined) {
    lines.push(`  demo        ${demo.loginLink} (opens the console of the demo; works once, within ten minutes)`);
    lines.push(`  demo, two   ${demo.approverLink} (a second person of the demo, who approves; works once, too)`);
  }
  if (loginLink !== undefined)
    lines.push(`  sign in     ${loginLink} (opens the console; works once, within ten minutes)`);
  if (approverLink !== undefined)
    lines.push(`  approver    ${approverLink} (a second person, who approves what you create; works once, too)`);
  if (config["auth.api_key_enabled"]) lines.push(`  admin key   ${adminKeyText(admin)}`);
  const key = admin?.file === undefined ? "<your key>" : `$(cat ${quoted(admin.file)})`;
  lines.push(
    "",
    "Send a first request from another terminal:",
    `  curl -sS ${baseUrl}/api/v2/environments -H "X-API-Key: ${key}"`,
    "",
    "Before you run the examples in README.md and docs/guides, run:",
    `  export ADDRESS=${baseUrl} KEY="${key}"${approverLink === undefined ? "" : ` APPROVER_LINK="${approverLink}"`}`,
    "",
    "",
  );
  return lines.join("\n");
}

function adminKeyText(admin: StartReport["admin"]): string {
  if (admin === undefined)
    return "not available on this machine; create one with an existing admin key (docs/guides/access.md)";
  if (admin.file === undefined) return "the value of auth.bootstrap_api_key";
  return admin.isNew ? `${admin.key} (shown once; stored in ${admin.file})` : `in ${admin.file}`;
}

/** Quotes a path for a shell, also inside double quotes and a command substitution. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
