import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

const documents = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CHANGELOG.md",
  ...globSync("docs/{,architecture/,guides/,decisions/}*.md").sort(),
];

/** The heading anchors of a document, as GitHub derives them. */
function anchorsOf(markdown: string): Set<string> {
  const headings = markdown.replace(/^```[\s\S]*?^```$/gm, "").matchAll(/^#+ (.+)$/gm);
  return new Set(
    Array.from(headings, ([, heading]) =>
      heading!
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

for (const document of documents) {
  const markdown = readFileSync(document, "utf8");

  test(`the links of ${document} lead to documents and headings that exist`, () => {
    for (const [, path, anchor] of markdown.matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)) {
      const target = path === "" ? document : join(dirname(document), path!);
      assert.ok(existsSync(target), `${path}`);
      if (anchor !== undefined) assert.ok(anchorsOf(readFileSync(target, "utf8")).has(anchor), `${path}#${anchor}`);
    }
  });

  test(`the source paths that ${document} names exist`, () => {
    const created = new Set(Array.from(markdown.matchAll(/^Create `([^`]+)`:$/gm), ([, path]) => path));
    for (const [, path] of markdown.matchAll(
      /`((?:src|test|scripts|definitions|migrations|docs|config|bin)\/[^`\s]*)`/g,
    )) {
      assert.ok(created.has(path) || globSync(path!).length > 0, `${path}`);
    }
  });
}
