// Adds optional packages of other platforms to the lock file. npm omits them if its registry does not have them, but
// `npm ci` refuses a lock file without them, although it would not install them. Run it after `npm install`.
import { readFileSync, writeFileSync } from "node:fs";

const systems = ["aix", "android", "darwin", "freebsd", "linux", "openharmony", "win32"];
const processors = ["arm64", "arm", "x64", "ia32", "ppc64", "riscv64", "s390x", "loong64"];

const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
const added = [];
for (const { dev, optionalDependencies = {} } of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const path = `node_modules/${name}`;
    if (lock.packages[path] !== undefined) continue;
    const words = name.split("/").at(-1).split("-");
    const os = systems.find((system) => words.includes(system));
    const cpu = processors.find((processor) => words.includes(processor));
    const libc = words.some((word) => word.startsWith("musl")) ? "musl" : undefined;
    if (os === undefined || cpu === undefined) throw new Error(`Cannot derive the platform of ${name} from its name.`);
    lock.packages[path] = {
      version,
      cpu: [cpu],
      ...(dev && { dev }),
      ...(libc && { libc: [libc] }),
      optional: true,
      os: [os],
    };
    added.push(name);
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync("package-lock.json", `${JSON.stringify(lock, null, 2)}\n`);
console.log(added.length === 0 ? "The lock file is complete." : `Added ${added.join(", ")}.`);
