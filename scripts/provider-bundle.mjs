// Converts the manifests of built-in providers to JSON, because reading YAML would delay the start of a node by seconds.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { canonicalJson } from "../src/platform/crypto/canonical-json.ts";
import { readYaml } from "../src/platform/document-text/yaml-document.ts";

/** Writes one file per provider, with the manifest and its digest. */
export function writeProviderBundle(source, target) {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  for (const name of readdirSync(source).filter((each) => each.endsWith(".yaml"))) {
    const { value: document, problem, position } = readYaml(readFileSync(`${source}/${name}`, "utf8"));
    if (problem !== undefined) throw new Error(`${source}/${name}:${position?.line ?? 1}: ${problem}`);
    const digest = createHash("sha256").update(canonicalJson(document)).digest("hex");
    writeFileSync(`${target}/${name.replace(/\.yaml$/, ".json")}`, `${JSON.stringify({ digest, document })}\n`);
  }
}
