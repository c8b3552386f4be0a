import { nameSource } from "../name-source.ts";

const owner = `coalesce(
  (select coalesce(nullif(m.display_name, ''), m.email) from members m where m.tenant_id = t.tenant_id and m.id = t.member_id),
  (select k.name from api_keys k where k.tenant_id = t.tenant_id and k.id = t.api_key_id),
  '')`;

/** The names of sign-ins. A session has the name of the person, or of the key, that it belongs to. */
export const identityNames = [
  nameSource("sso_connection", "sso:read", "sso_connections"),
  nameSource("scim_group", "sso:read", "scim_groups", { name: "display_name" }),
  nameSource("browser_session", "browser_session:read", "browser_sessions", {
    name: owner,
    isAmbiguous: "true",
    principal: "session",
  }),
];
