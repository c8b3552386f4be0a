import type { CaseContext, RequestOptions } from "../../sandbox/index.ts";

/** Creates an API key with a role, and returns its id and how to send requests with it. */
export async function createKey(
  context: CaseContext,
  role: string,
  fields: object = {},
): Promise<{ id: string; caller: RequestOptions }> {
  const body = { name: context.name(role), roles: [role], ...fields };
  const { id, secret } = await context.data("POST", "/api/v2/api-keys", body);
  return { id, caller: { as: "nobody", headers: { "x-api-key": secret } } };
}
