import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { commandEntries } from "../../gen/commands.ts";

const folder = new URL("../../docs/runbooks/", import.meta.url);
const commands = new Set(
  commandEntries.flatMap(({ word, verbs }) => Object.values(verbs).map((verb) => `${word} ${verb}`)),
);

test("every command that a runbook names exists", () => {
  let named = 0;
  for (const file of readdirSync(folder)) {
    const text = readFileSync(new URL(file, folder), "utf8");
    for (const [, command] of text.matchAll(/`service ([a-z-]+ [a-z-]+)/g)) {
      assert.ok(commands.has(command!), `${file}: service ${command}`);
      named++;
    }
  }
  assert.ok(named > 10);
});

test("every runbook is listed with what leads to it", () => {
  const index = readFileSync(new URL("README.md", folder), "utf8");
  for (const file of readdirSync(folder).filter((name) => name !== "README.md")) {
    assert.match(index, new RegExp(`^\\| \`[A-Za-z_]+\`.*\\(${file}\\) \\|$`, "m"), file);
  }
});
