import { createHash } from "node:crypto";
import { canonicalJson } from "../../../../platform/crypto/index.ts";
import { snakeCase } from "../../../../platform/text/index.ts";
import { effectiveConfig, type PoolSettings } from "./config-settings.ts";
import type { Pool } from "./pool.ts";
import type { PoolConfig } from "./pool-config.ts";
import type { NewRule, Rule, RuleId } from "./rule.ts";
import type { Strategy } from "./strategy.ts";

/** A rule in a version. Its id and its time of creation decide its place among rules of equal priority. */
export type ContentRule = NewRule & Pick<Rule, "id" | "createdAt">;

/** The content of a pool version: everything that routes, without recipients. */
export interface PoolContent {
  readonly strategy: Strategy;
  readonly settings: PoolSettings;
  /** In the order in which they apply, including disabled ones. */
  readonly rules: readonly ContentRule[];
}

/** The part of a version that a strategy artifact replaces. */
type StrategyPart = Pick<PoolContent, "strategy"> & { readonly selection: PoolSettings["selection"] };

/** Settings without an explicit refusal of unaddressed items, because it equals the default. */
function withoutDefaults({ acceptsUnaddressed, ...settings }: PoolSettings): PoolSettings {
  return acceptsUnaddressed === true ? { ...settings, acceptsUnaddressed } : settings;
}

/** A content as canonical JSON. Equal contents have equal texts. */
export function encodeContent({ strategy, settings, rules }: PoolContent): string {
  return canonicalJson({
    strategy,
    config: withoutDefaults(settings),
    rules: rules.map(({ id, createdAt, name, priority, condition, enabled, stopOnMatch, onError, action }) => ({
      ...{ id, created_at: createdAt.toISOString(), name, priority, condition, enabled },
      ...{ stop_on_match: stopOnMatch, on_error: onError, action },
    })),
  });
}

export function decodeContent(text: string): PoolContent {
  const { strategy, config, rules } = JSON.parse(text) as {
    strategy: Strategy;
    config: PoolSettings;
    rules: (Omit<NewRule, "stopOnMatch" | "onError"> & {
      id: RuleId;
      created_at: string;
      stop_on_match: boolean;
      on_error: Rule["onError"];
    })[];
  };
  return {
    strategy,
    settings: config,
    rules: rules.map(({ created_at, stop_on_match, on_error, ...rule }) => ({
      ...rule,
      createdAt: new Date(created_at),
      stopOnMatch: stop_on_match,
      onError: on_error,
    })),
  };
}

/** The SHA-256 of a text, as 64 hex digits. */
export function digestOfText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The SHA-256 of the part of a content that a strategy artifact replaces. */
export function digestOfStrategy({ strategy, settings }: PoolContent): string {
  const part: StrategyPart = { strategy, selection: settings.selection ?? {} };
  return digestOfText(canonicalJson(part));
}

/** The content with the strategy and the selection of another one. */
export function withStrategyOf(content: PoolContent, { strategy, settings }: PoolContent): PoolContent {
  const { selection: _, ...others } = content.settings;
  const selection = settings.selection === undefined ? {} : { selection: settings.selection };
  return { ...content, strategy, settings: { ...others, ...selection } };
}

export function configOf({ strategy, settings }: PoolContent): PoolConfig {
  return effectiveConfig(settings, strategy);
}

/** The order in which rules apply. */
export function byPosition(one: ContentRule, other: ContentRule): number {
  return (
    one.priority - other.priority ||
    one.createdAt.getTime() - other.createdAt.getTime() ||
    (one.id < other.id ? -1 : one.id > other.id ? 1 : 0)
  );
}

/** A difference between two contents. */
export interface ContentChange {
  /** `strategy`, a path of the config such as `config.lease`, or `rules.` and an id. */
  readonly path: string;
  readonly change: "added" | "removed" | "changed";
  /** The name of a rule; empty otherwise. */
  readonly name: string;
  /** Both values as canonical JSON; empty for none. */
  readonly before: string;
  readonly after: string;
}

/** The differences from one content to another: the strategy, then sections of the config, then rules. */
export function diffContents(before: PoolContent, after: PoolContent): ContentChange[] {
  const rulesAfter = new Map(after.rules.map((rule) => [`rules.${rule.id}`, rule]));
  const rulesBefore = new Map(before.rules.map((rule) => [pathOfSuccessor(rule, before, after), rule]));
  const nameOf = (path: string) => (rulesAfter.get(path) ?? rulesBefore.get(path))?.name ?? "";
  const sectionsOf = ({ settings }: PoolContent) =>
    new Map(
      Object.entries(withoutDefaults(settings)).map(([name, value]) => [`config.${snakeCase(name)}`, value as unknown]),
    );
  return [
    ...diffMaps(new Map([["strategy", before.strategy]]), new Map([["strategy", after.strategy]])),
    ...diffMaps(sectionsOf(before), sectionsOf(after)),
    ...diffMaps(rulesBefore, rulesAfter),
  ].map((change) => ({ ...change, name: nameOf(change.path) }));
}

/** The path of a rule, or of a new rule with its name that replaces it: rules that are staged without an id get a new one. */
function pathOfSuccessor(rule: ContentRule, before: PoolContent, after: PoolContent): string {
  const has = ({ rules }: PoolContent, id: RuleId) => rules.some((each) => each.id === id);
  const successors = after.rules.filter(({ id, name }) => name === rule.name && !has(before, id));
  const isReplaced = !has(after, rule.id) && successors.length === 1;
  return `rules.${isReplaced ? successors[0]!.id : rule.id}`;
}

function diffMaps(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>) {
  const text = (value: unknown) => (value === undefined ? "" : canonicalJson(withWireNames(value)));
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((path) => {
    const [was, is] = [text(before.get(path)), text(after.get(path))];
    if (was === is) return [];
    const change = was === "" ? ("added" as const) : is === "" ? ("removed" as const) : ("changed" as const);
    return [{ path, change, before: was, after: is }];
  });
}

/** The value with the names of the API. Settings and rules have no names of their own in them. */
function withWireNames(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(withWireNames);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [snakeCase(name), withWireNames(each)]));
}

/** The pool with the strategy and the config of a content. */
export function withContent(pool: Pool, content: PoolContent): Pool {
  return { ...pool, strategy: content.strategy, config: configOf(content) };
}
