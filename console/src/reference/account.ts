/** The address of the instance. Its pages may be below a path of a proxy. */
export const root = new URL("..", import.meta.url);

/**
 * The address of the workspace of the person who is signed in; undefined if nobody is. The path of the console leads there, or to
 * the sign-in.
 */
export async function findWorkspace(): Promise<string | undefined> {
  const response = await fetch(new URL("console", root), { method: "HEAD" }).catch(() => undefined);
  return response !== undefined && /\/workspaces\//.test(response.url) ? response.url : undefined;
}

/** The address of the sign-in, which comes back to a section of this page. */
export function signInAddress(section = ""): string {
  const here = location.pathname + (section === "" ? "" : `#${section}`);
  return `${new URL("auth/sign-in", root)}?return_to=${encodeURIComponent(here)}`;
}
