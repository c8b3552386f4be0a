import type { Json } from "../../../../platform/document/index.ts";

/** Where the value of a placeholder comes from. */
export const placeholderRoots = [
  "input",
  "settings",
  "captured",
  "account",
  "credentials",
  "config",
  /** Values of trigger registrations: `callback_url`, `secret`, `id` and `expires_at`. */
  "subscription",
  "idempotency_key",
  "now",
  /** The notification that is sent. */
  "message",
] as const;
export type PlaceholderRoot = (typeof placeholderRoots)[number];

/** A conversion of a placeholder's value, written after a bar: `{input.key|path}`. */
export const placeholderFilters = ["path", "csv", "json", "base64", "base64url", "mime_word", "line"] as const;
export type PlaceholderFilter = (typeof placeholderFilters)[number];

/** A value that is inserted into a template. */
export interface Placeholder {
  readonly root: PlaceholderRoot;
  /** The members below the root, for example `["repository", "name"]`. */
  readonly path: readonly string[];
  readonly filter: PlaceholderFilter | undefined;
  /** The default of the input schema, used if the value is absent. */
  readonly fallback: Json | undefined;
}

/** A text with placeholders. */
export interface TextTemplate {
  readonly source: string;
  readonly parts: readonly (string | Placeholder)[];
}

/** Member names for the name and the value of an entry. */
export interface EntryNames {
  readonly name: string;
  readonly value: string;
}

/** A JSON value with placeholders in its texts. */
export type ValueTemplate =
  | { readonly kind: "constant"; readonly value: null | boolean | number | string }
  /** Exactly one placeholder: the value keeps its type. An absent value drops the member that holds it. */
  | { readonly kind: "placeholder"; readonly placeholder: Placeholder }
  | { readonly kind: "text"; readonly template: TextTemplate }
  /** A text that is encoded after its placeholders are filled in, written as `{ $base64url: "…" }`. */
  | { readonly kind: "encoded"; readonly encoding: "base64" | "base64url" | "json"; readonly value: ValueTemplate }
  /** A list whose elements repeat the name in a form or query, written as `{ $repeat: … }`. */
  | { readonly kind: "repeat"; readonly value: ValueTemplate }
  /** The members of an object as a list of objects, written as `{ $entries: …, $name: Name, $value: Value }`. */
  | { readonly kind: "entries"; readonly value: ValueTemplate; readonly names: EntryNames }
  /** The objects of a list with other member names, written as `{ $items: …, $names: { name: Name } }`. */
  | { readonly kind: "items"; readonly value: ValueTemplate; readonly names: Readonly<Record<string, string>> }
  | { readonly kind: "list"; readonly elements: readonly ValueTemplate[] }
  | { readonly kind: "object"; readonly members: readonly (readonly [name: string, value: ValueTemplate])[] };

/** The placeholders in a value. */
export function placeholdersIn(template: ValueTemplate): readonly Placeholder[] {
  switch (template.kind) {
    case "placeholder":
      return [template.placeholder];
    case "text":
      return template.template.parts.filter((part) => typeof part !== "string");
    case "list":
      return template.elements.flatMap(placeholdersIn);
    case "object":
      return template.members.flatMap(([, member]) => placeholdersIn(member));
    case "encoded":
    case "repeat":
    case "entries":
    case "items":
      return placeholdersIn(template.value);
    case "constant":
      return [];
  }
}
