import { type Command, Option } from "commander";
import { usageError } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { readSource } from "../operations/text-source.ts";
import { tableText } from "../output/table.ts";
import { parseAddress } from "./connection.ts";
import { findProfile, maskedKey, type Plane, type Profile, readProfiles, writeProfiles } from "./profiles.ts";

/** Adds the commands that manage profiles. */
export function addProfileCommands(group: Command, io: Io): void {
  group
    .command("set")
    .description("Create or update a profile. The first profile becomes the current one.")
    .argument("<name>", "Name of the profile.")
    .option("--address <url>", "Base URL of the service.")
    .option(
      "--key <key>",
      "API key or token; @file reads a file, - reads stdin, so that it is not in the shell history.",
    )
    .addOption(new Option("--plane <plane>", "Plane of the address.").choices(["external", "internal"]))
    .action((name: string, options: Partial<Profile>) => setProfile(io, name, options));

  group
    .command("list")
    .description("List profiles. Keys are masked.")
    .option("--json", "Print JSON.")
    .action((options: { json?: boolean }) => listProfiles(io, options));

  group
    .command("use")
    .description("Set the current profile.")
    .argument("<name>", "The profile.")
    .action((name: string) => {
      const all = readProfiles(io);
      findProfile(all, name);
      writeProfiles(io, { ...all, current: name });
      io.out(`Current profile: ${name}\n`);
    });

  group
    .command("remove")
    .description("Delete a profile and its key.")
    .argument("<name>", "The profile.")
    .action((name: string) => {
      const { current, profiles } = readProfiles(io);
      findProfile({ profiles }, name);
      const { [name]: _removed, ...rest } = profiles;
      writeProfiles(io, { current: current === name ? undefined : current, profiles: rest });
      io.out(`Deleted profile ${name}.\n`);
    });
}

async function setProfile(io: Io, name: string, options: { address?: string; key?: string; plane?: Plane }) {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) {
    throw usageError(
      "The profile name must be 1 to 64 letters, digits, dots, dashes or underscores, and start with a letter or digit (for example: staging)",
    );
  }
  const { current, profiles } = readProfiles(io);
  const before = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  const address = options.address === undefined ? before?.address : parseAddress(options.address);
  if (address === undefined)
    throw usageError("A new profile requires --address (for example: --address https://switchyard.example)");
  // A key belongs to its address and is never sent to another one.
  const storedKey = before?.address === address ? before.key : undefined;
  const key = options.key === undefined ? storedKey : await readSource(io, "--key", options.key);
  const profile: Profile = { address, key, plane: options.plane ?? before?.plane };
  writeProfiles(io, { current: current ?? name, profiles: { ...profiles, [name]: profile } });
  io.out(`Saved profile ${name}: ${address}${key === undefined ? ", no key" : `, key ${maskedKey(key)}`}\n`);
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
    io.err("No profiles. Create one with: service profile set <name> --address <url>\n");
  } else {
    const rows = shown.map((each) => [each.name, each.current ? "*" : "", each.address, each.plane, each.key]);
    const headings = ["name", "current", "address", "plane", "key"];
    const text = tableText(headings, rows, io.columns) ?? shown.map(({ name }) => name).join("\n");
    io.out(`${text}\n`);
  }
}
