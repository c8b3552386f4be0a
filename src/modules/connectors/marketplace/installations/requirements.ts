import type { Context } from "../../../../chain/call.ts";
import { fail } from "../../../../errors/index.ts";
import { type Pack, packName } from "../domain/pack.ts";
import { isInRange } from "../domain/versions.ts";
import { installationStore } from "./installation-store.ts";

/** Throws unless every pack that a pack requires is installed in a fitting version. */
export async function requireRequirements({ sql, tenantId }: Context, { requires }: Pack): Promise<void> {
  const store = installationStore(sql);
  for (const { pack, version } of requires) {
    const [publisher, name] = pack.split("/") as [string, string];
    const installed = await store.findPack(tenantId, publisher, name);
    if (installed !== undefined && isInRange(installed.version, version)) continue;
    const found = installed === undefined ? "is not installed" : `is installed in version ${installed.version}`;
    throw fail("FAILED_PRECONDITION", { public: `This pack requires ${pack} ${version}, which ${found}.` });
  }
}

/** Throws if another installed pack requires a pack and does not accept the version that it would have; "" for none. */
export async function requireAcceptedBy(
  { sql, tenantId }: Context,
  pack: Pick<Pack, "publisher" | "name">,
  version: string,
): Promise<void> {
  const dependents = await installationStore(sql).dependents(tenantId, packName(pack));
  const refusing = dependents.filter(({ range }) => version === "" || !isInRange(version, range));
  if (refusing.length === 0) return;
  const names = refusing.map((each) => `${packName(each)} (requires ${each.range})`);
  throw fail("IN_USE", {
    public: `Other installed packs require this one: ${names.join(", ")}.`,
    extra: { required_by: refusing.map(packName) },
  });
}
