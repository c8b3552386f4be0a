import { useEffect, useRef } from "preact/hooks";
import { environments } from "./core/environments";
import { environment, href, setQuery, workspace } from "./core/router";
import { can, session } from "./core/session";
import { theme, toggleTheme } from "./core/theme";
import { pageGroups } from "./registry";
import { searchKeys } from "./shortcuts";
import { Button } from "./ui/button";
import { Icon } from "./ui/icon";
import { Name } from "./ui/name";

interface Props {
  readonly current: string;
  /** Whether it was opened on a narrow screen, where it covers the page. On wide ones it is always there. */
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onSearch: () => void;
}

/** Chooses the environment that all pages show. */
function EnvironmentSwitch() {
  if (environments.value.length < 2) return null;
  return (
    <select
      aria-label="Environment"
      class="select environment"
      onChange={(event) => setQuery({ environment: event.currentTarget.value })}
      value={environment.value ?? ""}
    >
      <option value="">All environments</option>
      {environments.value.map(({ key, name }) => (
        <option key={key} selected={key === environment.value} value={key}>
          {name || key}
        </option>
      ))}
    </select>
  );
}

/** Scrolls the menu to the current page. An element that is scrolled into view by the browser would be where Tab continues. */
function showCurrent(nav: HTMLElement): void {
  const link = nav.querySelector("[aria-current]")?.getBoundingClientRect();
  const seen = nav.getBoundingClientRect();
  if (link === undefined || (link.top >= seen.top && link.bottom <= seen.bottom)) return;
  nav.scrollTop += link.top - seen.top - seen.height / 2;
}

/** The menu with the pages that the caller may see. */
export function Sidebar({ current, isOpen, onClose, onSearch }: Props) {
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const opener = document.activeElement as HTMLElement | null;
    const links = [...element.current!.querySelectorAll<HTMLElement>(".nav a")];
    (links.find((link) => link.ariaCurrent !== null) ?? links[0])?.focus();
    const onKey = ({ key }: KeyboardEvent) => {
      if (key !== "Escape") return;
      onClose();
      opener?.focus();
    };
    const onPress = ({ target }: Event) => {
      if (!element.current!.contains(target as Node) && !opener?.contains(target as Node)) onClose();
    };
    addEventListener("keydown", onKey);
    addEventListener("pointerdown", onPress);
    return () => {
      removeEventListener("keydown", onKey);
      removeEventListener("pointerdown", onPress);
    };
  }, [isOpen]);
  // The environments arrive later, and their switch takes place from the menu.
  useEffect(() => showCurrent(element.current!.querySelector(".nav")!), [current, environments.value]);
  const who = session.value!;
  const groups = pageGroups
    .map(({ title, pages }) => ({ title, pages: pages.filter(({ scope }) => can(scope)) }))
    .filter(({ pages }) => pages.length > 0);
  return (
    <aside class="sidebar" ref={element}>
      <div class="workspace">
        <svg aria-hidden="true" class="logo" fill="none" stroke="currentColor" stroke-width="2" viewBox="0 0 24 24">
          <path d="M3 12h6c5 0 4-7 9-7h3M9 12c5 0 4 7 9 7h3M9 12h12" stroke-linecap="round" />
        </svg>
        <span class="name">
          {who.tenantName || workspace.value}
          <span class="product">Switchyard</span>
        </span>
      </div>
      <button class="jump" onClick={onSearch} type="button">
        <Icon name="search" size={14} />
        Search
        <kbd>{searchKeys}</kbd>
      </button>
      <EnvironmentSwitch />
      <nav aria-label="Pages" class="nav">
        {groups.map(({ title, pages }) => (
          <div key={title}>
            {title !== "" && <h2>{title}</h2>}
            {pages.map((page) => (
              <a aria-current={page.path === current ? "page" : undefined} href={href(page.path)} key={page.path}>
                <Icon name={page.icon} />
                {page.title}
              </a>
            ))}
          </div>
        ))}
      </nav>
      <footer>
        <span class="who" title={who.subject}>
          {who.kind === "api_key" && "API key "}
          <Name id={who.subject} plain />
          <br />
          <span class="faint">{who.roles.join(", ") || "own scopes"}</span>
        </span>
        <Button
          icon={theme.value === "dark" ? "sun" : "moon"}
          label={theme.value === "dark" ? "Use the light theme" : "Use the dark theme"}
          onClick={toggleTheme}
          small
          tone="quiet"
        />
        <a aria-label="API reference" class="button icon small quiet" href="/docs" title="API reference">
          <Icon name="reference" size={14} />
        </a>
        <a
          aria-label="Sessions and sign-out"
          class="button icon small quiet"
          href="/auth/sessions"
          title="Sessions and sign-out"
        >
          <Icon name="exit" size={14} />
        </a>
      </footer>
    </aside>
  );
}
