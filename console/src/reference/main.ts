import { type Language, languages } from "../../../src/gateway/docs/samples/samples.ts";
import { otherTheme, showTheme } from "../core/stored-theme";
import { findWorkspace } from "./account";
import { type Exchange, startExchange } from "./exchange";
import { openRecords } from "./records";
import { startSearch } from "./search";
import "../styles/tokens.css";
import "../styles/base.css";
import "../styles/navigation.css";
import "../styles/controls.css";
import "../styles/reference.css";

const languageKey = "switchyard-language";

startSearch();
startThemeButton();
followSections();
await startExchanges();

/** Completes the requests of the page when they come into view, so that a long page reads only the records that are needed. */
async function startExchanges(): Promise<void> {
  const forms = document.querySelectorAll<HTMLFormElement>(".exchange");
  if (forms.length === 0) return;
  const workspace = await findWorkspace();
  const records = workspace === undefined ? undefined : openRecords(workspace);
  const started = new Set<Exchange>();
  const stored = localStorage.getItem(languageKey);
  let language: Language = languages.find((each) => each === stored) ?? "curl";

  function chooseLanguage(chosen: Language): void {
    language = chosen;
    localStorage.setItem(languageKey, chosen);
    for (const exchange of started) exchange.showSample(language);
  }

  async function fillAll(): Promise<void> {
    for (const exchange of started) await exchange.fill();
  }

  const observer = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      observer.unobserve(target);
      const exchange = startExchange(target as HTMLFormElement, { records, chooseLanguage, onAnswer: fillAll });
      started.add(exchange);
      exchange.showSample(language);
      exchange.fill();
    }
  });
  for (const form of forms) observer.observe(form);
}

function startThemeButton(): void {
  const button = document.querySelector<HTMLButtonElement>("#theme")!;
  button.hidden = false;
  button.addEventListener("click", () => showTheme(otherTheme()));
}

/** Scrolls the navigation, and nothing else. */
function scrollTo(link: HTMLElement): void {
  const tree = document.querySelector(".nav")!;
  const { top, bottom } = tree.getBoundingClientRect();
  const place = link.getBoundingClientRect();
  if (place.top < top || place.bottom > bottom - 40) tree.scrollTop += place.top - top - tree.clientHeight / 3;
}

/** Marks the section in view in the navigation. */
function followSections(): void {
  const contents = document.getElementById("contents")!;
  const page = contents.querySelector<HTMLElement>(".nav a[aria-current='page']");
  if (page !== null) scrollTo(page);
  // On a phone, the navigation opens over the page, and covers the section that a link leads to.
  contents.addEventListener("toggle", () => page && scrollTo(page));
  contents.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest("a")) contents.hidePopover();
  });
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>(".nav a[href^='#']")].map((link) => [link.hash.slice(1), link]),
  );
  const observer = new IntersectionObserver(
    (entries) => {
      const shown = entries.find(({ isIntersecting }) => isIntersecting);
      const link = shown && links.get(shown.target.id);
      if (link === undefined) return;
      for (const each of links.values()) each.removeAttribute("aria-current");
      link.setAttribute("aria-current", "location");
      scrollTo(link);
    },
    { rootMargin: "0px 0px -70% 0px" },
  );
  for (const section of document.querySelectorAll(".operation")) observer.observe(section);
}
