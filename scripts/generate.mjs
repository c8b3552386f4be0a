// Generates gen/ and the clients from the definitions and the manifests of providers: node scripts/generate.mjs [output folder, default: .]
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { commandIndex } from "./command-index.mjs";
import { writeProviderBundle } from "./provider-bundle.mjs";

const target = process.argv[2] ?? ".";
execFileSync("buf", ["generate", "--output", target], { stdio: "inherit" });

// The list of all services.
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
  `${target}/gen/services.ts`,
  `// Generated from the definitions; do not edit.
import type { DescService } from "@bufbuild/protobuf";
${imports.join("\n")}

/** Every service of the API. */
export const services: readonly DescService[] = [${names.join(", ")}];
`,
);

// The comments of the definitions. The generated descriptors omit them, but the reference needs them.
const image = JSON.parse(execFileSync("buf", ["build", "-o", "-#format=json"], { maxBuffer: 1 << 28 }));
const comments = {};
for (const file of image.file.filter(({ name }) => name.startsWith("service/api/"))) {
  const texts = new Map(
    file.sourceCodeInfo.location.map(({ path, leadingComments }) => [(path ?? []).join("."), leadingComments]),
  );
  // The numbers are the field numbers of nested declarations in descriptor.proto.
  const visit = (item, fullName, path, nested) => {
    const text = texts.get(path);
    if (text !== undefined) comments[fullName] = text.trim().replace(/\s*\n\s*/g, " ");
    for (const [key, number, inner] of nested) {
      for (const [index, child] of (item[key] ?? []).entries()) {
        visit(child, `${fullName}.${child.name}`, `${path === "" ? "" : `${path}.`}${number}.${index}`, inner);
      }
    }
  };
  const enums = (number) => ["enumType", number, [["value", 2, []]]];
  const messages = ["messageType", 4, [["field", 2, []], ["oneofDecl", 8, []], enums(4)]];
  messages[2].push(["nestedType", 3, messages[2]]);
  visit(file, file.package, "", [messages, enums(5), ["service", 6, [["method", 2, []]]]]);
}
writeFileSync(
  `${target}/gen/comments.ts`,
  `// Generated from the definitions; do not edit.

/** The comment of every declaration, by its full name. */
export const comments: Readonly<Record<string, string>> = ${JSON.stringify(comments, null, 2)};
`,
);

writeFileSync(`${target}/gen/commands.ts`, commandIndex(image.file, comments));

writeProviderBundle("connectors/providers", `${target}/gen/connectors`);

// In processes of their own, which read the descriptors that are written above.
for (const script of ["scripts/client.ts", "scripts/python-client.ts"]) {
  execFileSync("node", [script, target], { stdio: "inherit" });
}
