import { nameSource } from "../name-source.ts";

/** The names of the records that tenants are made of. */
export const tenancyNames = [
  nameSource("environment", "environment:read", "environments", {
    isVisible: (inProduction) => `(key = 'production') = ${inProduction}`,
  }),
  nameSource("member", "member:read", "members", {
    name: "coalesce(nullif(display_name, ''), email)",
    alias: "subject",
  }),
  nameSource("api_key", "api_key:read", "api_keys", { principal: "key" }),
  nameSource("secret", "secret:read", "secrets"),
];
