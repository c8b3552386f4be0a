import type { Permissions } from "../../../pack-records.ts";

const aspects = ["hosts", "scopes", "effects"] as const;

/** Returns the permissions that are missing in `base`. */
export function permissionsBeyond(permissions: Permissions, base: Permissions): Permissions {
  return mapAspects((aspect) => permissions[aspect].filter((each) => !base[aspect].includes(each)));
}

/** All permissions of several. */
export function unionOf(all: readonly Permissions[]): Permissions {
  return mapAspects((aspect) => [...new Set(all.flatMap((each) => each[aspect]))].sort());
}

/** Whether there are no permissions. */
export function isEmpty(permissions: Permissions): boolean {
  return aspects.every((aspect) => permissions[aspect].length === 0);
}

/** A list for people: `hosts: api.example.com; effects: notify:email`. */
export function describePermissions(permissions: Permissions): string {
  const parts = aspects.flatMap((aspect) =>
    permissions[aspect].length === 0 ? [] : [`${aspect}: ${permissions[aspect].join(", ")}`],
  );
  return parts.join("; ");
}

function mapAspects(listOf: (aspect: (typeof aspects)[number]) => readonly string[]): Permissions {
  return { hosts: listOf("hosts"), scopes: listOf("scopes"), effects: listOf("effects") };
}
