import { signal } from "@preact/signals";

type Theme = "light" | "dark";

const key = "switchyard-theme";

/** The theme of the console: the chosen one, or the one of the system. */
export const theme = signal<Theme>(document.documentElement.dataset.theme === "dark" ? "dark" : "light");

/** Changes to the other theme. */
export function toggleTheme(): void {
  theme.value = theme.peek() === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = theme.value;
  localStorage.setItem(key, theme.value);
}
