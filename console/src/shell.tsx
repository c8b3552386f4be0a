import type { ComponentType } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { segments } from "./core/router";
import { can } from "./core/session";
import { Palette } from "./palette";
import { allPages, type PageEntry } from "./registry";
import { Sidebar } from "./sidebar";
import { Button } from "./ui/button";
import { Loading } from "./ui/card";
import { Confirmation } from "./ui/dialog";
import { messageOf } from "./ui/format";
import { Notice } from "./ui/text";
import { Toasts } from "./ui/toast";

/** The whole console: menu, page, search and messages. */
export function Shell() {
  const [first = "", ...rest] = segments.value;
  const [isMenuOpen, openMenu] = useState(false);
  const [isSearching, search] = useState(false);
  const page = allPages.find(({ path }) => path === first);
  const main = useRef<HTMLElement>(null);
  const path = segments.value.join("/");
  const shown = useRef(path);
  useEffect(() => {
    if (shown.current === path) return;
    shown.current = path;
    openMenu(false);
    // The keyboard continues at the start of the new page, and readers say its title.
    main.current!.focus({ preventScroll: true });
  }, [path]);
  // Before the page is shown: a key that is pressed right away is not lost.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "k" || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      search(true);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <div class="shell" data-menu={isMenuOpen ? "open" : "closed"}>
      <button class="button skip" onClick={() => main.current!.focus()} type="button">
        Skip to the page
      </button>
      <Sidebar current={first} isOpen={isMenuOpen} onClose={() => openMenu(false)} onSearch={() => search(true)} />
      <main class="main" ref={main} tabIndex={-1}>
        <span class="menu-button">
          <Button icon="menu" isExpanded={isMenuOpen} label="Menu" onClick={() => openMenu(!isMenuOpen)} />
        </span>
        {page === undefined || !can(page.scope) ? <Missing /> : <Lazy key={page.path} page={page} path={rest} />}
      </main>
      {isSearching && <Palette onClose={() => search(false)} />}
      <Confirmation />
      <Toasts />
    </div>
  );
}

function Missing() {
  return (
    <div class="page">
      <h1>There is no such page</h1>
      <p class="soft">It does not exist, or you may not see it. Search with ⌘K, or choose a page from the menu.</p>
    </div>
  );
}

type Loaded = ComponentType<{ readonly path: readonly string[] }>;

/** A page whose code is loaded on demand. */
function Lazy({ page, path }: { readonly page: PageEntry; readonly path: readonly string[] }) {
  const [component, setComponent] = useState<{ readonly Content: Loaded }>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    page.load().then((file) => setComponent({ Content: file.default }), setError);
  }, [page]);
  if (error !== undefined) {
    return (
      <div class="page">
        <Notice tone="bad">The page could not be loaded: {messageOf(error)}. Reload the browser tab.</Notice>
      </div>
    );
  }
  if (component === undefined) {
    return (
      <div class="page">
        <Loading />
      </div>
    );
  }
  return <component.Content path={path} />;
}
