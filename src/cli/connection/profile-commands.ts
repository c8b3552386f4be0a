import { type Command, Option } from "commander";
import { usageError } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { readSource } from "../operations/text-source.ts";
import { tableText } from "../output/table.ts";
import { checkedAddress } from "./connection.ts";
import { maskedKey, namedProfile, type Plane, type Profile, readProfiles, writeProfiles } from "./profiles.ts";

/** Adds the commands that keep profiles. */
export function addProfileCommands(group: Command, io: Io): void {
  group
    .command("set")
    .description("Make or change a profile; the first one becomes the current one.")
    .argument("<name>", "What to call it.")
    .option("--address <url>", "Where the service is.")
    .option("--key <key>", "The key to call with; @file or - reads it, so that no history keeps it.")
    .addOption(new Option("--plane <plane>", "Which plane the address is of.").choices(["external", "internal"]))
    .action((name: string, options: Partial<Profile>) => setProfile(io, name, options));

  group
    .command("list")
    .description("List the profiles; keys are shortened.")
    .option("--json", "Print them as JSON.")
    .action((options: { json?: boolean }) => listProfiles(io, options));

  group
    .command("use")
    .description("Make a profile the current one.")
    .argument("<name>", "The profile.")
    .action((name: string) => {
      const all = readProfiles(io);
      namedProfile(all, name);
      writeProfiles(io, { ...all, current: name });
      io.out(`Calls go to ${name} now.\n`);
    });

  group
    .command("remove")
    .description("Remove a profile and its key.")
    .argument("<name>", "The profile.")
    .action((name: string) => {
      const { current, profiles } = readProfiles(io);
      namedProfile({ profiles }, name);
      const { [name]: _removed, ...rest } = profiles;
      writeProfiles(io, { current: current === name ? undefined : current, profiles: rest });
      io.out(`Removed ${name}.\n`);
    });
}

async function setProfile(io: Io, name: string, options: { address?: string; key?: string; plane?: Plane }) {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) {
    throw usageError("A profile's name is 1 to 64 letters, digits, dots, dashes or underscores");
  }
  const { current, profiles } = readProfiles(io);
  const before = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  const address = options.address === undefined ? before?.address : checkedAddress(options.address);
  if (address === undefined) throw usageError("A new profile needs --address");
  // A key was given for an address; another address is not to see it.
  const keptKey = before?.address === address ? before.key : undefined;
  const key = options.key === undefined ? keptKey : await readSource(io, "--key", options.key);
  const profile: Profile = { address, key, plane: options.plane ?? before?.plane };
  writeProfiles(io, { current: current ?? name, profiles: { ...profiles, [name]: profile } });
  io.out(`Kept ${name}: ${address}${key === undefined ? ", without a key" : `, key ${maskedKey(key)}`}\n`);
}

function listProfiles(io: Io, { json }: { json?: boolean }): void {
  const { current, profiles } = readProfiles(io);
  const shown = Object.entries(profiles).map(([name, { address, key, plane = "external" }]) => ({
    name,
    current: name === current,
    address,
    plane,
    key: key === undefined ? "" : maskedKey(key),
  }));
  if (json) {
    io.out(`${JSON.stringify(shown)}\n`);
  } else if (shown.length === 0) {
    io.err("There are no profiles yet: service profile set <name> --address <url>\n");
  } else {
    const rows = shown.map((each) => [each.name, each.current ? "*" : "", each.address, each.plane, each.key]);
    const headings = ["name", "current", "address", "plane", "key"];
    const text = tableText(headings, rows, io.columns) ?? shown.map(({ name }) => name).join("\n");
    io.out(`${text}\n`);
  }
}
