// Generates the TypeScript client from the definitions and the error catalogue: node scripts/client.ts [output folder]
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { services } from "../src/definitions/index.ts";
import { collectReachable } from "../src/gateway/openapi/schemas/schemas.ts";
import { clientOperations, resultMessage } from "./client/operations.ts";
import { createTypeWriter, type Module } from "./client/types.ts";
import { writeErrors } from "./client/typescript/errors.ts";
import { typescript } from "./client/typescript/language.ts";
import { writeService } from "./client/typescript/services.ts";

const folder = join(process.argv[2] ?? ".", "clients/typescript/src/gen");
const header = "// Generated from the definitions; do not edit.\n";

const responseMessages = collectReachable(services.flatMap(clientOperations).map(resultMessage));
const types = createTypeWriter(responseMessages, typescript);
const sources = services.map((service) => writeService(service, types));

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const module of types.modules.values()) {
  if (module.declarations.size > 0) write(`${module.name}.ts`, moduleSource(module));
}
write("services.ts", servicesSource());
write("types.ts", typesSource());
writeFileSync(join(folder, "errors.ts"), writeErrors());

function write(name: string, source: string): void {
  writeFileSync(join(folder, name), `${header}${source}`);
}

/** The types of a definition file, and its services. */
function moduleSource(module: Module): string {
  const own = sources.filter((source) => source.module === module);
  const results = new Set(own.flatMap(({ resultTypes }) => [...resultTypes]));
  const imports = [
    ...(own.length > 0
      ? [
          `import { bindOperations } from "../transport/bind.ts";`,
          `import type { CallOptions, Operation } from "../transport/operation.ts";`,
          `import type { Transport } from "../transport/transport.ts";`,
        ]
      : []),
    ...(results.has("List") ? [`import type { List } from "../transport/list.ts";`] : []),
    ...(results.has("EventStream") ? [`import type { EventStream } from "../streams/event-stream.ts";`] : []),
    ...[...module.imports]
      .map(([name, names]) => [name.startsWith(".") ? name : `./${name}`, names] as const)
      .sort(byPath)
      .map(([path, names]) => typeImport(path, names)),
  ];
  return [
    ...(imports.length > 0 ? [`${imports.join("\n")}\n`] : []),
    ...own.map(({ source }) => source),
    ...module.declarations.values(),
  ].join("\n");
}

function typeImport(path: string, names: ReadonlySet<string>): string {
  return `import type { ${[...names].sort().join(", ")} } from "${path}.ts";`;
}

function byPath([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** All services as one object. */
function servicesSource(): string {
  const imports = sources.map(
    ({ factoryName, interfaceName, module }) =>
      `import { ${factoryName}, type ${interfaceName} } from "./${module.name}.ts";`,
  );
  return `import type { Transport } from "../transport/transport.ts";
${imports.join("\n")}

/** Every service of the API. */
export interface Services {
${sources.map(({ property, interfaceName }) => `  readonly ${property}: ${interfaceName};\n`).join("")}}

/** Creates every service over a transport. Create single services instead where the size of a bundle matters. */
export function createServices(transport: Transport): Services {
  return {
${sources.map(({ property, factoryName }) => `    ${property}: ${factoryName}(transport),\n`).join("")}  };
}
`;
}

/** Every type of the API. */
function typesSource(): string {
  const modules = [...types.modules.values()].filter(({ declarations }) => declarations.size > 0);
  return modules.map(({ name }) => `export type * from "./${name}.ts";\n`).join("");
}
