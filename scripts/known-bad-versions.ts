// Versions of packages that must not be installed, because their faults are public. The audit of npm's registry cannot be reached
// from every place where the checks run, so the list is kept here. Extend it when `npm audit` or an advisory names a package
// of the lock file.
import semver from "semver";

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly name?: string; readonly version?: string }>>;
}

/** Package, bad versions, and the advisory or issue that says why. */
const knownBadVersions: readonly (readonly [name: string, range: string, reason: string])[] = [
  ["@node-saml/node-saml", "<5.1.0", "GHSA-4mxg-3p6v-xgq3"],
  ["@xmldom/xmldom", "<0.8.15 || >=0.9.0-0 <0.9.12", "GHSA-965w-775f-mr7g"],
  ["nodemailer", "<8.0.5", "GHSA-vvjj-xcjg-gr5g"],
  ["samlify", "<2.13.0", "GHSA-34r5-q4jw-r36m"],
  ["xml-crypto", "<6.0.1", "GHSA-9p8x-f768-wp2g"],
  ["xml-crypto", "<6.3.2", "node-saml/xml-crypto#522"],
];

/** The packages of a lock file with known faults, one per line; undefined if there is none. */
export function findBadVersions({ packages }: LockFile): string | undefined {
  const bad = Object.entries(packages).flatMap(([path, entry]) => {
    const { name = path.split("node_modules/").at(-1), version = "" } = entry;
    return knownBadVersions
      .filter(([each, range]) => each === name && semver.satisfies(version, range, { includePrerelease: true }))
      .map(([, range, reason]) => `${path} ${version} is in ${range}: ${reason}`);
  });
  return bad.length === 0 ? undefined : bad.join("\n");
}
