import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "switchyard-boundaries-"));
after(() => rmSync(folder, { recursive: true }));

/** A small source tree: two areas, the first with two modules. Each file violates at most the rule in its name. */
const files: Readonly<Record<string, string>> = {
  "src/modules/red/index.ts": 'export { one } from "./one/index.ts";\nexport type { Two } from "./two/index.ts";',
  "src/modules/red/one/index.ts": 'export { one } from "./one.ts";',
  "src/modules/red/one/one.ts": "export const one = 1;",
  "src/modules/red/two/index.ts": "export interface Two { readonly two: number }\nexport const two = 2;",
  "src/modules/red/two/through-index.ts": 'import { one } from "../one/index.ts";\nexport const sum = one + 1;',
  "src/modules/red/two/past-index.ts": 'import { one } from "../one/one.ts";\nexport const sum = one + 1;',
  "src/modules/red/two/own-area.ts": 'import { one } from "../index.ts";\nexport const sum = one + 1;',
  "src/modules/blue/index.ts": "export const blue = 3;",
  "src/modules/blue/three/as-type.ts": 'import type { Two } from "../../red/index.ts";\nexport type Three = Two;',
  "src/modules/blue/three/as-value.ts": 'import { one } from "../../red/index.ts";\nexport const three = one + 2;',
  "src/modules/blue/three/past-area.ts": 'import type { Two } from "../../red/two/index.ts";\nexport type Three = Two;',
  "src/modules/blue/three/domain/impure.ts": 'import { blue } from "../store.ts";\nexport const four = blue + 1;',
  "src/modules/blue/three/store.ts": "export const blue = 3;",
  "src/modules/blue/three/chicken.ts":
    'import type { Egg } from "./egg.ts";\nexport interface Chicken { readonly egg: Egg }',
  "src/modules/blue/three/egg.ts":
    'import type { Chicken } from "./chicken.ts";\nexport interface Egg { readonly from: Chicken }',
  "src/app/past-index.ts": 'import { one } from "../modules/red/one/index.ts";\nexport const app = one;',
};

let broken: string[];
before(async () => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  for (const file of ["package.json", "tsconfig.json", ".dependency-cruiser.mjs"])
    cpSync(join(root, file), join(folder, file));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const args = ["src", "--config", ".dependency-cruiser.mjs", "--output-type", "json"];
  const run = promisify(execFile)(join(root, "node_modules/.bin/depcruise"), args, { cwd: folder });
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  const { violations } = JSON.parse(stdout).summary as { violations: { rule: { name: string }; from: string }[] };
  broken = violations.map(({ rule, from }) => `${from.replace("src/", "")}: ${rule.name}`).sort();
});

test("imports that bypass an index, within and between areas, are rejected, and so are type cycles", () => {
  assert.deepEqual(broken, [
    "app/past-index.ts: app-and-cli-import-areas-through-index",
    "modules/blue/three/as-value.ts: areas-import-each-other-as-types",
    "modules/blue/three/chicken.ts: no-import-cycles",
    "modules/blue/three/domain/impure.ts: domain-is-pure",
    "modules/blue/three/past-area.ts: areas-import-each-other-through-index",
    "modules/red/two/own-area.ts: modules-do-not-import-their-own-area",
    "modules/red/two/past-index.ts: modules-import-each-other-through-index",
  ]);
});
