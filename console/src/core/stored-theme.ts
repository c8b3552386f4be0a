type Theme = "light" | "dark";

const key = "switchyard-theme";

/** The theme of the page: the chosen one, or the one of the system. A script in the head of the page has set it. */
export function shownTheme(): Theme {
  return document.documentElement.dataset.theme === "dark" ? "dark" : "light";
}

/** The theme that the page does not have. */
export function otherTheme(): Theme {
  return shownTheme() === "dark" ? "light" : "dark";
}

/** Shows a theme on this page, and on the next ones. */
export function showTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
  localStorage.setItem(key, theme);
}
