// Generates the Python client from the definitions and the error catalogue: node scripts/python-client.ts [output folder]
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { services } from "../src/definitions/index.ts";
import { catalogue } from "../src/errors/index.ts";
import { collectReachable } from "../src/gateway/openapi/schemas/schemas.ts";
import { clientOperations, resultMessage } from "./client/operations.ts";
import { docString, python } from "./client/python/language.ts";
import { type ServiceSource, writeService } from "./client/python/services.ts";
import { createTypeWriter, type Module } from "./client/types.ts";

const folder = join(process.argv[2] ?? ".", "clients/python/switchyard/generated");
const header = `# Generated from the definitions; do not edit.
from __future__ import annotations

`;

const responseMessages = collectReachable(services.flatMap(clientOperations).map(resultMessage));
const types = createTypeWriter(responseMessages, python);
const sources = services.map((service) => writeService(service, types));

rmSync(folder, { recursive: true, force: true });
for (const name of ["types", "services"]) mkdirSync(join(folder, name), { recursive: true });
const modules = [...types.modules.values()].filter(({ declarations }) => declarations.size > 0);
for (const module of modules) write(`types/${module.name}.py`, typesSource(module));
write("types/__init__.py", typeIndex());
for (const module of new Set(sources.map((source) => source.module))) {
  write(`services/${module.name}.py`, servicesSource(sources.filter((source) => source.module === module)));
}
writeFileSync(join(folder, "services/__init__.py"), "");
writeFileSync(join(folder, "__init__.py"), "");
write("all_services.py", allServices());
write("error_codes.py", errorCodes());

function write(name: string, source: string): void {
  writeFileSync(join(folder, name), `${header}${source}`);
}

function typesSource(module: Module): string {
  const imports = importsOf(module.imports, ".");
  return [
    `from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict
${imports === "" ? "" : `\nif TYPE_CHECKING:\n${imports}`}`,
    ...module.declarations.values(),
  ].join("\n\n");
}

/** Imports of types, for type checkers only. */
function importsOf(imports: ReadonlyMap<string, ReadonlySet<string>>, from: string): string {
  return [...imports]
    .filter(([name]) => name !== python.jsonModule)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, names]) => `    from ${from}${name} import ${[...names].sort().join(", ")}\n`)
    .join("");
}

/** Every type by its name. A module is loaded when one of its types is used. */
function typeIndex(): string {
  const names = modules.map(({ name, declarations }) => [name, [...declarations.keys()].sort()] as const);
  const entries = names.flatMap(([name, each]) => each.map((type) => `    "${type}": "${name}",\n`));
  return `from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
${names.map(([name, each]) => `    from .${name} import ${each.map((type) => `${type} as ${type}`).join(", ")}\n`).join("")}
_MODULES = {
${entries.join("")}}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"there is no type {name}")
    return getattr(import_module(f".{_MODULES[name]}", __name__), name)
`;
}

function servicesSource(own: readonly ServiceSource[]): string {
  const imports = new Map<string, Set<string>>();
  for (const source of own) {
    for (const [name, names] of source.imports) imports.set(name, (imports.get(name) ?? new Set()).union(names));
  }
  return [
    `from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence

from ...operation import Operation
from ...service import AsyncService, Service

if TYPE_CHECKING:
    from ...lists import AsyncPagedList, PagedList
    from ...operation import CallOptions
    from ...streams import AsyncEventStream, EventStream
    from ...transport import RawResponse
${importsOf(imports, "..types.")}`,
    ...own.map(({ source }) => source),
  ].join("\n");
}

/** All services as attributes of two classes. A module is loaded when its service is used. */
function allServices(): string {
  const property = (prefix: string, args: string) => (source: ServiceSource) =>
    `    @cached_property
    def ${source.property}(self) -> ${prefix}${source.name}:
${docString(source.comment, "        ")}        from .services.${source.module.name} import ${prefix}${source.name}

        return ${prefix}${source.name}(${args})
`;
  const imports = sources.map(({ module, name }) => `    from .services.${module.name} import Async${name}, ${name}\n`);
  return `from functools import cached_property
from typing import TYPE_CHECKING, Optional

from ..threads import ThreadRunner
from ..transport import Transport

if TYPE_CHECKING:
    from ..batching import Batcher
${imports.join("")}

class Services:
    """Every service of the API."""

    def __init__(self, transport: Transport, batcher: Optional[Batcher]) -> None:
        self._transport = transport
        self._batcher = batcher

${sources.map(property("", "self._transport, self._batcher")).join("\n")}

class AsyncServices:
    """Every service of the API, for asyncio."""

    def __init__(self, transport: Transport, threads: ThreadRunner, batcher: Optional[Batcher]) -> None:
        self._transport = transport
        self._threads = threads
        self._batcher = batcher

${sources.map(property("Async", "self._transport, self._threads, self._batcher")).join("\n")}`;
}

/** The errors of the catalogue: status, whether a retry can succeed, and title. */
function errorCodes(): string {
  const entries = Object.entries(catalogue);
  const lines = entries.map(
    ([code, { http, retryable, title, meaning, remedy }]) =>
      `    # ${meaning} ${remedy}\n    "${code}": (${http}, ${retryable ? "True" : "False"}, ${JSON.stringify(title)}),\n`,
  );
  return `from typing import Dict, Literal, Tuple

#: The code of an error.
ErrorCode = ${python.literals(entries.map(([code]) => code))}

#: Every error of the service: its HTTP status, whether a retry can succeed, and its title.
ERRORS: Dict[str, Tuple[int, bool, str]] = {
${lines.join("")}}
`;
}
