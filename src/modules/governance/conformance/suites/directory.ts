import type { CaseContext, CaseSource, Json } from "../sandbox/index.ts";

const scim = { capabilities: ["scim", "members"] };

/** Has the directory create a person, gives the person a role, and returns how to change and read the person. */
async function provisionPerson(context: CaseContext) {
  const userName = `${context.name()}@conformance.invalid`;
  const { id } = await context.data("POST", "/scim/v2/Users", { userName, active: true });
  const user = `/scim/v2/Users/${id}`;
  const members = await context.data("GET", "/api/v2/members?limit=100");
  const member = context.need(
    "the person is a member",
    members.find(({ email }: Json) => email === userName),
  );
  const path = `/api/v2/members/${member.id}`;
  // The keys of the sandbox expire, so they cannot give a role for longer.
  const expires_at = new Date(Date.now() + 60_000).toISOString();
  await context.data("PATCH", path, { role_set: { roles: ["viewer"] }, expires_at });
  return {
    patch: (operation: object) => context.send("PATCH", user, { body: { Operations: [operation] } }),
    isActive: async (): Promise<boolean> => (await context.data("GET", user)).active,
    /** The roles that the person has now. */
    async roles(): Promise<string> {
      const { access } = await context.data("GET", path);
      return access.map(({ role }: Json) => role).join();
    },
  };
}

const deactivate = { op: "replace", path: "active", value: false };

/** Cases about people whom a directory provisions with SCIM. */
export const directoryCases: Readonly<Record<string, CaseSource>> = {
  "access.directory-deactivation": {
    guarantee: "A person whom the directory deactivates has no role any more.",
    ...scim,
    async run(context) {
      const { patch, roles } = await provisionPerson(context);
      context.expect("roles before", await roles(), "viewer");
      await patch(deactivate);
      context.expect("roles after", await roles(), "");
    },
  },
  "access.directory-reactivation": {
    guarantee: "An inactive person becomes active again only if the directory says so.",
    ...scim,
    async run(context) {
      const { patch, isActive } = await provisionPerson(context);
      await patch(deactivate);
      await patch({ op: "remove", path: "active" });
      context.expect("active after a request that does not say so", await isActive(), false);
      await patch({ op: "replace", path: "active", value: true });
      context.expect("active after one that does", await isActive(), true);
    },
  },
};
