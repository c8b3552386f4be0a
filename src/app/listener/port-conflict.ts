import { once } from "node:events";
import { createServer } from "node:net";
import { environmentName, type SettingKey } from "../../config/index.ts";

/** Addresses to listen on, by their settings. */
export type ListenAddresses<Key extends SettingKey = SettingKey> = readonly (readonly [key: Key, address: string])[];

/**
 * Explains that the port of the first address is in use, and how to choose another. The ports of the other addresses that are
 * in use are named as well, so that one change of the settings is enough.
 */
export async function describePortConflict(
  [first, ...others]: ListenAddresses,
  open: ListenAddresses,
): Promise<string> {
  const taken = [first!];
  for (const other of others) if (!(await isFree(other[1]))) taken.push(other);
  const reserved = new Set([first!, ...others, ...open].map(([, address]) => split(address).port));
  const choices: (readonly [SettingKey, string])[] = [];
  for (const [key, address] of taken) choices.push([key, await freeAddress(address, reserved)]);

  const [key, address] = first!;
  const { host, port } = split(address);
  const more = taken.slice(1).map(([each]) => each);
  const isOne = taken.length === 1;
  return [
    `${key}: port ${port}${host === "" ? "" : ` of ${host}`} is in use by another program${isOne ? "" : `, like the ports of ${more.join(", ")}`}.`,
    `  Stop that program, or choose ${isOne ? "another port" : "other ports"}: ${choices.map(([each, choice]) => `--set ${each}=${choice}`).join(" ")}`,
    `  (or with ${isOne ? "an environment variable" : "environment variables"}: ${choices.map(([each, choice]) => `${environmentName(each)}=${choice}`).join(" ")})`,
  ].join("\n");
}

/** The next address with a port that nothing uses and no other setting names. */
async function freeAddress(address: string, reserved: Set<number>): Promise<string> {
  const { host, port } = split(address);
  for (let next = port + 1; next < 65_536; next++) {
    const choice = `${host}:${next}`;
    if (reserved.has(next) || !(await isFree(choice))) continue;
    reserved.add(next);
    return choice;
  }
  return `${host}:0`;
}

async function isFree(address: string): Promise<boolean> {
  const { host, port } = split(address);
  const server = createServer();
  try {
    server.listen({ port, host: host === "" ? undefined : host.replace(/^\[|\]$/g, "") });
    await once(server, "listening");
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "EADDRINUSE";
  } finally {
    server.close();
  }
}

function split(address: string): { readonly host: string; readonly port: number } {
  const colon = address.lastIndexOf(":");
  return { host: address.slice(0, colon), port: Number(address.slice(colon + 1)) };
}
