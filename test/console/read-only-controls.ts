import type { Page } from "playwright-core";

/** Buttons that change nothing but the view, and those of the own sessions, which everybody may end. */
const harmless =
  /^(|Live|Connecting|Copy as curl|CSV|Copy|curl|CLI|TypeScript|Menu|Preview|Compare with \d+|Show \d+ more|Search on|Login link|Sign out|End|15 min|1 h|24 h|7 d|(Email|SMS|Push|Chat|In app)( ·)?)$/;
/** Buttons that are harmless on one page only: a line of the log is opened, and a replay of a decision stores nothing. */
const harmlessOn: Readonly<Record<string, RegExp>> = {
  events: /^\d\d:\d\d:\d\d.*$/s,
  decisions: /^Replay$/,
  streams: /^Open a stream$/,
};

/** The texts of the buttons of a page that may change something. Titles of columns only sort. */
export async function changingControls(page: Page): Promise<string[]> {
  const [, , , name = ""] = new URL(page.url()).pathname.split("/");
  const texts = await page.locator("main button:not(th button)").allInnerTexts();
  return texts.map((text) => text.trim()).filter((text) => !harmless.test(text) && !harmlessOn[name]?.test(text));
}
