import { element } from "./element";

type Entry = readonly [kind: string, title: string, detail: string, href: string];

const shownMax = 30;

/** How well an entry fits: its title, or the path and the command of an operation, whole words first. An operation comes before its events. */
function rankOf([kind, title, detail]: Entry, words: readonly string[]): number {
  const isOperation = kind === "Operation";
  const name = (isOperation ? `${title} ${detail}` : title).toLowerCase();
  const whole = new Set(name.split(/\W+/));
  const ranks = words.map((word) => (whole.has(word) ? 8 : name.includes(word) ? 4 : 0));
  // Of titles that fit alike, the shortest says the least else.
  return ranks.reduce((sum, rank) => sum + rank, isOperation ? 6 : 0) - title.length / 100;
}

/** Starts the search in the navigation. Its index is loaded when somebody first uses it. */
export function startSearch(): void {
  const box = document.getElementById("search")!;
  const input = box.querySelector("input")!;
  const list = document.getElementById("found")!;
  const nav = document.querySelector<HTMLElement>(".nav")!;
  let index: Promise<readonly Entry[]> | undefined;
  box.hidden = false;

  input.addEventListener("focus", () => {
    index ??= fetch(box.dataset.index!).then((response) => response.json());
  });
  input.addEventListener("input", show);
  box.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const stops = [input, ...list.querySelectorAll("a")];
      const at = stops.indexOf(document.activeElement as HTMLAnchorElement) + (event.key === "ArrowDown" ? 1 : -1);
      stops[Math.max(0, Math.min(at, stops.length - 1))]!.focus();
      event.preventDefault();
    } else if (event.key === "Enter" && document.activeElement === input) {
      list.querySelector("a")?.click();
    } else if (event.key === "Escape" && input.value !== "") {
      input.value = "";
      show();
      event.preventDefault();
    }
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = (event.target as Element).closest("input, textarea, select") !== null;
    const isShortcut = (event.key === "/" && !isTyping) || (event.key === "k" && (event.ctrlKey || event.metaKey));
    if (!isShortcut) return;
    event.preventDefault();
    if (!input.checkVisibility()) document.getElementById("contents")!.showPopover();
    input.focus();
  });

  async function show(): Promise<void> {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const entries = await index!;
    const found = entries.flatMap((entry) => {
      const text = `${entry[1]} ${entry[2]}`.toLowerCase();
      if (!words.every((word) => text.includes(word))) return [];
      return [{ entry, rank: rankOf(entry, words) }];
    });
    const best = found.toSorted((a, b) => b.rank - a.rank).slice(0, shownMax);
    const isSearching = words.length > 0;
    nav.hidden = isSearching;
    list.hidden = !isSearching;
    list.replaceChildren(
      ...(best.length === 0
        ? [element("li", { className: "soft", textContent: "Nothing found." })]
        : best.map(({ entry }) => row(entry))),
    );
  }

  function row([kind, title, detail, href]: Entry): HTMLElement {
    return element(
      "li",
      {},
      element(
        "a",
        { href: box.dataset.root + href },
        element("span", { className: "kind", textContent: kind }),
        element("strong", { textContent: title }),
        element("span", { className: "soft", textContent: detail }),
      ),
    );
  }
}
