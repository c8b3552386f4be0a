import { signal } from "@preact/signals";
import { otherTheme, shownTheme, showTheme } from "./stored-theme";

/** The theme of the console: the chosen one, or the one of the system. */
export const theme = signal(shownTheme());

/** Changes to the other theme. */
export function toggleTheme(): void {
  theme.value = otherTheme();
  showTheme(theme.value);
}
