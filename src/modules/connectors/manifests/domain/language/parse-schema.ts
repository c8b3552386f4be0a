import {
  isJsonObject,
  type Json,
  type JsonObject,
  memberPath,
  type Violations,
} from "../../../../../platform/document/index.ts";
import { checkSchema } from "../../../../../platform/json-schema/index.ts";
import { formats, limits } from "./limits.ts";
import { suggest } from "./parse-template.ts";

const prefix = "#/schemas/";

/** Resolves the references of schemas and checks them. Schemas that are used often are resolved once. */
export class SchemaResolver {
  readonly #schemas: JsonObject;
  readonly #violations: Violations;
  readonly #resolved = new Map<string, { readonly schema: Json; readonly nodes: number }>();
  readonly #open = new Set<string>();
  readonly #checked = new WeakSet<object>();

  constructor(schemas: JsonObject, violations: Violations) {
    this.#schemas = schemas;
    this.#violations = violations;
  }

  /** Checks the named schemas themselves, one schema per step. */
  *checkAll(): Generator<void, void> {
    for (const name of Object.keys(this.#schemas)) {
      const path = memberPath("schemas", name);
      if (!formats.schemaName.pattern.test(name)) {
        this.#violations.add(path, "pattern", formats.schemaName.description);
        continue;
      }
      const schema = this.#named(name, path);
      if (schema !== undefined) this.#check(schema.schema, path);
      yield;
    }
  }

  /** A schema without references; undefined and reported if it is invalid. */
  resolve(value: Json, path: string): JsonObject | undefined {
    const before = this.#violations.list.length;
    const resolved = this.#expand(value, path);
    if (resolved === undefined || this.#violations.list.length > before) return undefined;
    if (resolved.nodes > limits.schemaNodes) {
      return this.#violations.add(path, "size", `must have at most ${limits.schemaNodes} nodes with its references`);
    }
    this.#check(resolved.schema, path);
    return this.#violations.list.length > before ? undefined : (resolved.schema as JsonObject);
  }

  #check(schema: Json, path: string): void {
    if (isJsonObject(schema) && this.#checked.has(schema)) return;
    if (isJsonObject(schema)) this.#checked.add(schema);
    checkSchema(schema, path, this.#violations);
  }

  #expand(value: Json, path: string, isMap = false): { readonly schema: Json; readonly nodes: number } | undefined {
    if (Array.isArray(value)) return this.#expandList(value, path);
    if (!isJsonObject(value)) return { schema: value, nodes: 1 };
    if (!isMap && typeof value.$ref === "string") return this.#reference(value.$ref, value, path);
    const members: Record<string, Json> = {};
    let nodes = 1;
    for (const [name, member] of Object.entries(value)) {
      // Values of these keywords are data, not schemas.
      const isData = !isMap && (name === "enum" || name === "const" || name === "default");
      const expanded = isData
        ? { schema: member, nodes: 1 }
        : this.#expand(member, memberPath(path, name), !isMap && name === "properties");
      if (expanded === undefined) return undefined;
      members[name] = expanded.schema;
      nodes += expanded.nodes;
    }
    return { schema: members, nodes };
  }

  #expandList(list: readonly Json[], path: string) {
    const elements: Json[] = [];
    let nodes = 1;
    for (const [at, each] of list.entries()) {
      const expanded = this.#expand(each, `${path}[${at}]`);
      if (expanded === undefined) return undefined;
      elements.push(expanded.schema);
      nodes += expanded.nodes;
    }
    return { schema: elements, nodes };
  }

  #reference(reference: string, { $ref: _, ...own }: JsonObject, path: string) {
    const name = reference.startsWith(prefix) ? reference.slice(prefix.length) : undefined;
    if (name === undefined) {
      return this.#violations.add(
        memberPath(path, "$ref"),
        "reference",
        `must start with ${prefix}, for example "${prefix}Issue"`,
      );
    }
    const target = this.#named(name, path);
    if (target === undefined || Object.keys(own).length === 0) return target;
    return { schema: { ...(target.schema as JsonObject), ...own }, nodes: target.nodes };
  }

  #named(name: string, path: string): { readonly schema: Json; readonly nodes: number } | undefined {
    const known = this.#resolved.get(name);
    if (known !== undefined) return known;
    if (!Object.hasOwn(this.#schemas, name)) {
      const hint = suggest(name, Object.keys(this.#schemas), "schemas");
      return this.#violations.add(memberPath(path, "$ref"), "reference", hint);
    }
    if (this.#open.has(name)) {
      return this.#violations.add(memberPath(path, "$ref"), "reference", `must not refer to itself (${name})`);
    }
    this.#open.add(name);
    const resolved = this.#expand(this.#schemas[name]!, memberPath("schemas", name));
    this.#open.delete(name);
    if (resolved === undefined) return undefined;
    if (resolved.nodes > limits.schemaNodes) {
      return this.#violations.add(
        memberPath("schemas", name),
        "size",
        `must have at most ${limits.schemaNodes} nodes with its references`,
      );
    }
    this.#resolved.set(name, resolved);
    return resolved;
  }
}
