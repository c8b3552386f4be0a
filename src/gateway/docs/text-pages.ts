import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { escapeHtml, type PageRenderer, prose } from "./page.ts";

/** The folders of texts: guides, and runbooks, which findings and alerts name by their paths. */
const folders = ["guides", "runbooks"] as const;
const root = join(import.meta.dirname, "../../../docs");

/** The texts, by their paths such as `/docs/guides/admission.md`. */
export type Texts = ReadonlyMap<string, Text>;

interface Text {
  /** Its first line. */
  readonly title: string;
  readonly markdown: string;
}

/** Reads the guides and the runbooks. Only these are read from disk. */
export function readTexts(): Texts {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((file) => file.endsWith(".md"))
      .map((file) => [folder, file] as const),
  );
  return new Map(
    paths.map(([folder, file]) => {
      const markdown = readFileSync(join(root, folder, file), "utf8").trim();
      return [`/docs/${folder}/${file}`, { title: markdown.slice(2, markdown.indexOf("\n")), markdown }];
    }),
  );
}

/** The paths and the titles of the guides, in the order of their titles. */
export function listGuides(texts: Texts): (readonly [path: string, title: string])[] {
  return [...texts]
    .filter(([path]) => path.startsWith("/docs/guides/"))
    .map(([path, { title }]) => [path.slice(1), title] as const)
    .sort(([, a], [, b]) => a.localeCompare(b, "en"));
}

/** Renders the page that lists the guides. */
export function renderGuides(renderPage: PageRenderer, texts: Texts): string {
  const rows = listGuides(texts).map(([path, title]) => `<li><a href="../${path}">${escapeHtml(title)}</a></li>`);
  return renderPage({
    title: "Guides",
    root: "../",
    path: "docs/guides",
    main: `<h1>Guides</h1>
<p class="lead">Each does one thing from start to end, with commands for a terminal. Begin with <a href="./guides/first-steps.md">First steps</a> and <a href="./guides/route-your-first-item.md">Route your first item</a>.</p>
<ul>
${rows.join("\n")}
</ul>`,
  });
}

/** Renders a text. */
export function renderText(renderPage: PageRenderer, texts: Texts, path: string): string {
  const { title, markdown } = texts.get(path)!;
  // Every second part is code, without the indentation that it has in a list.
  const parts = markdown.split(/^( *)```[^\n]*\n([\s\S]*?)^ *```$/m);
  const body = parts.map((part, index) => {
    if (index % 3 === 1) return "";
    if (index % 3 === 2)
      return `<pre tabindex="0">${escapeHtml(part.replaceAll(`\n${parts[index - 1]}`, "\n").trim())}</pre>`;
    const blocks = part.split(/\n{2,}/).map((block) => block.trim());
    return blocks
      .filter((block) => block !== "")
      .map((block) => renderBlock(block, path, texts))
      .join("\n");
  });
  const isGuide = path.startsWith("/docs/guides/");
  const crumbs = isGuide ? `<p class="crumbs"><a href="../../docs/guides">Guides</a></p>\n` : "";
  return renderPage({ title, root: "../../", path: isGuide ? "docs/guides" : "", main: crumbs + body.join("\n") });
}

function renderBlock(block: string, path: string, texts: Texts): string {
  const inline = (text: string) => renderInline(text, path, texts);
  const heading = /^(#{1,3}) (.*)$/.exec(block);
  if (heading !== null) return renderHeading(heading[1]!.length, heading[2]!, inline);
  if (block.startsWith("|")) return renderTable(block, inline);
  const number = /^(\d+)\. /.exec(block);
  if (number !== null) {
    const start = number[1] === "1" ? "" : ` start="${number[1]}"`;
    return renderList(`ol${start}`, block.split(/^\d+\. /m), inline);
  }
  if (block.startsWith("- ")) return renderList("ul", block.split(/^- /m), inline);
  return `<p>${inline(block)}</p>`;
}

type Inline = (text: string) => string;

/** A heading has the anchor that links to it use. */
function renderHeading(level: number, text: string, inline: Inline): string {
  const anchor = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
  return level === 1 ? `<h1>${inline(text)}</h1>` : `<h${level} id="${anchor}">${inline(text)}</h${level}>`;
}

function renderList(tag: string, entries: readonly string[], inline: Inline): string {
  const items = entries.filter((entry) => entry !== "").map((entry) => `<li>${inline(entry.trim())}</li>`);
  return `<${tag}>\n${items.join("\n")}\n</${tag.slice(0, 2)}>`;
}

function renderTable(block: string, inline: Inline): string {
  const [head = "", , ...rows] = block.split("\n");
  const row = (line: string, tag: "th" | "td") =>
    `<tr>${line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => `<${tag}>${inline(cell.trim().replaceAll("\\|", "|"))}</${tag}>`)
      .join("")}</tr>`;
  return `<table>\n${row(head, "th")}\n${rows.map((line) => row(line, "td")).join("\n")}\n</table>`;
}

/** A link to another text leads to its page. What others refer to is on disk or elsewhere, so only its name is shown. */
function renderInline(text: string, path: string, texts: Texts): string {
  return prose(text).replace(
    /!?\[([^\]]+)\]\(([^)#]*)(#[^)]*)?\)/g,
    (_, label: string, target: string, anchor = "") => {
      const isServed = target === "" || texts.has(new URL(target, `http://service${path}`).pathname);
      return isServed ? `<a href="${target}${anchor}">${label}</a>` : label;
    },
  );
}
