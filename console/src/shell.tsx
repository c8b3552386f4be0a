import type { ComponentType } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { segments } from "./core/router";
import { can } from "./core/session";
import { Palette } from "./palette";
import { allPages, type PageEntry } from "./registry";
import { isWriting, Shortcuts, searchKeys } from "./shortcuts";
import { Sidebar } from "./sidebar";
import { Button } from "./ui/button";
import { Loading } from "./ui/card";
import { Confirmation } from "./ui/dialog";
import { Failure } from "./ui/failure";
import { Toasts } from "./ui/toast";

/** The whole console: menu, page, search and messages. */
export function Shell() {
  const [first = "", ...rest] = segments.value;
  const [isMenuOpen, openMenu] = useState(false);
  const [isSearching, search] = useState(false);
  const [isHelping, help] = useState(false);
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
      if (event.key === "k" && (event.metaKey || event.ctrlKey)) search(true);
      else if (event.key === "?" && !isWriting(event) && document.querySelector("dialog[open]") === null) help(true);
      else return;
      event.preventDefault();
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
      {isSearching && <Palette onClose={() => search(false)} onHelp={() => help(true)} />}
      {isHelping && <Shortcuts onClose={() => help(false)} />}
      <Confirmation />
      <Toasts />
    </div>
  );
}

function Missing() {
  return (
    <div class="page">
      <h1>There is no such page</h1>
      <p class="soft">
        It does not exist, or you may not see it. Search with {searchKeys}, or choose a page from the menu.
      </p>
    </div>
  );
}

type Loaded = ComponentType<{ readonly path: readonly string[] }>;

/** A page whose code is loaded on demand. */
function Lazy({ page, path }: { readonly page: PageEntry; readonly path: readonly string[] }) {
  const [component, setComponent] = useState<{ readonly Content: Loaded }>();
  const [hasFailed, fail] = useState(false);
  useEffect(() => {
    page.load().then(
      (file) => setComponent({ Content: file.default }),
      () => fail(true),
    );
  }, [page]);
  if (hasFailed) {
    return (
      <div class="page">
        <h1>{page.title}</h1>
        <Failure
          error="The service is not reachable, or it was upgraded since this tab was opened."
          onRetry={() => location.reload()}
          title="The page could not be loaded."
        />
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
