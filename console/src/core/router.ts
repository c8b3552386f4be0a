import { computed, signal } from "@preact/signals";

/**
 * The address of the page: `/workspaces/{tenant}/{page}/…?filters`. Everything that a page shows follows from it, so that every
 * view can be shared as a link.
 */
const address = signal(location.pathname + location.search);

const url = computed(() => new URL(address.value, location.origin));

/** The tenant in the address. */
export const workspace = computed(() => decodeURIComponent(url.value.pathname.split("/")[2] ?? ""));

/** The parts of the path after the workspace. */
export const segments = computed(() => url.value.pathname.split("/").slice(3).filter(Boolean).map(decodeURIComponent));

/** The filters of the page. */
export const query = computed(() => url.value.searchParams);

/** The key of the environment that the whole console shows; undefined for all. It stays in the address on every page. */
export const environment = computed(() => query.value.get("environment") || undefined);

/** The address of a page in the workspace, for the same environment. */
export function href(path: string, filters: Readonly<Record<string, string | undefined>> = {}): string {
  const target = path === "" ? "" : `/${path.split("/").map(encodeURIComponent).join("/")}`;
  const given = Object.entries({ environment: environment.value, ...filters }).filter(
    (entry): entry is [string, string] => Boolean(entry[1]),
  );
  const search = given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
  return `/workspaces/${encodeURIComponent(workspace.peek())}${target}${search}`;
}

/** Goes to an address. */
export function navigate(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  const before = url.peek().pathname;
  address.value = location.pathname + location.search;
  if (url.peek().pathname !== before) document.querySelector("main")?.scrollTo(0, 0);
}

/** The address with some filters changed; an empty value removes a filter. */
export function withQuery(changes: Readonly<Record<string, string | undefined>>): string {
  const params = new URLSearchParams(query.peek());
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") params.delete(name);
    else params.set(name, value);
  }
  const search = params.size === 0 ? "" : `?${params}`;
  return url.peek().pathname + search;
}

/** Changes filters of the current page. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>, options?: { replace?: boolean }): void {
  navigate(withQuery(changes), { replace: true, ...options });
}

/** A dialog of a page that a link or the search can open: `?do=new`. Returns whether it is open, and how to change that. */
export function useAddressedDialog(name: string, isAllowed: boolean): [isOpen: boolean, open: (open: boolean) => void] {
  const isOpen = isAllowed && query.value.get("do") === name;
  return [isOpen, (open) => setQuery({ do: open ? name : undefined })];
}

/** Follows links within the console without loading the document again. */
export function startRouter(): void {
  addEventListener("popstate", () => {
    address.value = location.pathname + location.search;
  });
  document.addEventListener("click", (event) => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    const link = (event.target as Element).closest?.("a[href]");
    if (link === null || link === undefined || link.hasAttribute("download") || link.hasAttribute("target")) return;
    const target = new URL((link as HTMLAnchorElement).href);
    if (target.origin !== location.origin || !target.pathname.startsWith("/workspaces/")) return;
    event.preventDefault();
    navigate(target.pathname + target.search);
  });
}
