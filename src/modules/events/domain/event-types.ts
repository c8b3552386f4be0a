/** Every kind of event that the service itself records, with its meaning and the fields of its data. */
export const eventTypes = {
  "tenant.created": { meaning: "A tenant was created.", data: ["name", "slug"] },
  "tenant.updated": { meaning: "A tenant was changed.", data: ["fields"] },
  "tenant.deleted": { meaning: "A tenant was deleted; its data is purged later.", data: ["purge_at"] },
  "environment.created": { meaning: "An environment was created.", data: ["key", "mode"] },
  "environment.updated": { meaning: "An environment was changed.", data: ["fields"] },
  "environment.deleted": { meaning: "An environment was deleted.", data: ["key"] },
  "member.invited": { meaning: "A person was invited.", data: ["roles"] },
  "member.updated": { meaning: "A member was changed.", data: ["fields"] },
  "member.removed": { meaning: "A member was removed.", data: [] },
  "api_key.created": { meaning: "An API key was created.", data: ["name", "prefix", "roles", "scopes"] },
  "api_key.revoked": { meaning: "An API key was revoked.", data: ["name", "prefix"] },
  "secret.created": { meaning: "A secret was created.", data: ["name"] },
  "secret.updated": { meaning: "A secret was changed.", data: ["name", "version", "fields"] },
  "secret.deleted": { meaning: "A secret was deleted.", data: ["name"] },
  "config.changed": { meaning: "A tenant set one of its settings.", data: ["key"] },
  "config.reset": { meaning: "A tenant returned a setting to its default.", data: ["key"] },
} as const satisfies Record<string, { meaning: string; data: readonly string[] }>;

/** A kind of event that the service itself records. */
export type EventType = keyof typeof eventTypes;

/** First parts of types that callers may not publish themselves. */
export const reservedFamilies: ReadonlySet<string> = new Set(
  Object.keys(eventTypes).map((type) => type.split(".")[0]!),
);
