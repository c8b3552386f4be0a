import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { escapeHtml, type PageRenderer, prose } from "./page.ts";

const folder = join(import.meta.dirname, "../../../docs/runbooks");

/** The files of the runbooks, which findings and alerts name by their paths. Only these are read from disk. */
export function listRunbooks(): ReadonlySet<string> {
  return new Set(readdirSync(folder).filter((file) => file.endsWith(".md")));
}

/** Renders a runbook. */
export function renderRunbook(renderPage: PageRenderer, file: string): string {
  const [heading = "", ...blocks] = readFileSync(join(folder, file), "utf8")
    .trim()
    .split(/\n{2,}/);
  const title = heading.replace(/^# /, "");
  const body = `<h1>${escapeHtml(title)}</h1>\n${blocks.map(renderBlock).join("\n")}`;
  return renderPage({ title, root: "../../", main: `<main class="page">\n${body}\n</main>` });
}

function renderBlock(block: string): string {
  if (block.startsWith("|")) return renderTable(block);
  if (/^\d+\. /.test(block)) return renderList("ol", block.split(/^\d+\. /m));
  if (block.startsWith("- ")) return renderList("ul", block.split(/^- /m));
  return block.startsWith("## ") ? `<h2>${inline(block.slice(3))}</h2>` : `<p>${inline(block)}</p>`;
}

function renderList(tag: "ol" | "ul", entries: readonly string[]): string {
  const items = entries.filter((entry) => entry !== "").map((entry) => `<li>${inline(entry.trim())}</li>`);
  return `<${tag}>\n${items.join("\n")}\n</${tag}>`;
}

function renderTable(block: string): string {
  const [head = "", , ...rows] = block.split("\n");
  const row = (line: string, tag: "th" | "td") =>
    `<tr>${line
      .split("|")
      .slice(1, -1)
      .map((cell) => `<${tag}>${inline(cell.trim())}</${tag}>`)
      .join("")}</tr>`;
  return `<table>\n${row(head, "th")}\n${rows.map((line) => row(line, "td")).join("\n")}\n</table>`;
}

/** A link to another runbook leads to its page. What others refer to is on disk, so only its name is shown. */
function inline(text: string): string {
  return prose(text)
    .replace(/\[([^\]]+)\]\(([a-z-]+\.md)\)/g, '<a href="./$2">$1</a>')
    .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1");
}
