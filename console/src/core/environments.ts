import { createEnvironmentService, type Environment } from "@client/gen/environment";
import { signal } from "@preact/signals";
import { environment } from "./router";
import { can } from "./session";
import { unlistedTransport } from "./transport";

const listedMax = 500;

/** The environments of the workspace; empty if the caller may not list them. */
export const environments = signal<readonly Environment[]>([]);

export async function loadEnvironments(): Promise<void> {
  if (!can("environment:read")) return;
  const list = createEnvironmentService(unlistedTransport).list({ limit: listedMax });
  environments.value = (await list.page().catch(() => ({ items: [] }))).items;
}

/** The filter of a list for the environment that the whole console shows. */
export function environmentFilter(): { readonly environment_id?: string } {
  return environment.value === undefined ? {} : { environment_id: environment.value };
}

/** Whether a record with this environment, or with none, is among those that the whole console shows. */
export function isShownEnvironment(id: string): boolean {
  const shown = environment.value;
  return shown === undefined || id === shown || environments.value.some((each) => each.id === id && each.key === shown);
}

/** What people call an environment. */
export function environmentName(id: string): string {
  const found = environments.value.find((each) => each.id === id || each.key === id);
  return found === undefined ? id : found.name || found.key;
}
