// Regenerates everything under gen/ from the definitions.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

execFileSync("buf", ["generate"], { stdio: "inherit" });

// The list of services, so that none is registered by hand.
const folder = "definitions/service/api";
const imports = [];
const names = [];
for (const file of readdirSync(folder).sort()) {
  const found = [...readFileSync(`${folder}/${file}`, "utf8").matchAll(/^service (\w+) \{/gm)].map((match) => match[1]);
  if (found.length === 0) continue;
  imports.push(`import { ${found.join(", ")} } from "./service/api/${file.replace(".proto", "_pb.ts")}";`);
  names.push(...found);
}
writeFileSync(
  "gen/services.ts",
  `// Generated from the definitions; do not edit.
import type { DescService } from "@bufbuild/protobuf";
${imports.join("\n")}

/** Every service of the API. */
export const services: readonly DescService[] = [${names.join(", ")}];
`,
);
