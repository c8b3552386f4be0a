import { type Role, type Service, serve } from "../app/serve.ts";
import type { LoadedConfig } from "../config/index.ts";

/** Runs a node until it is told to stop; answers with the exit code. */
export async function runServe(loaded: LoadedConfig, role: Role): Promise<number> {
  const told = new Promise<string>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve(signal));
  });
  const service = await serve(loaded, role);
  if (role !== "worker") greet(service, loaded);
  const lost = service.lost.then((reason) => `lost ${reason}`);
  const why = await Promise.race([told, lost]);
  if (why.startsWith("lost")) process.stderr.write(`The embedded PostgreSQL ended: ${why.slice(5)}\n`);
  await service.stop();
  return why.startsWith("lost") ? 1 : 0;
}

function greet({ planes, adminKey }: Service, { config }: LoadedConfig): void {
  const { baseUrl } = planes;
  const lines = ["", `Switchyard is serving at ${baseUrl}`, `  reference   ${baseUrl}/docs`];
  if (adminKey !== undefined) lines.push(`  admin key   ${adminKey}`);
  else if (config["auth.api_key_enabled"])
    lines.push("  admin key   yours; a new one: start with SERVICE_AUTH_BOOTSTRAP_API_KEY=sk_dev_<id>_<secret>");
  lines.push("", "Try it:", `  curl -s ${baseUrl}/api/v2/environments -H 'X-API-Key: ${adminKey ?? "<key>"}'`, "");
  process.stdout.write(`${lines.join("\n")}\n`);
}
