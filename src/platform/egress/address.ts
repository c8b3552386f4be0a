import { BlockList, isIPv6 } from "node:net";

/** What an address is for. Only a public one may be reached unless the policy opens it. */
export type AddressKind =
  | "public"
  | "metadata"
  | "link_local"
  | "loopback"
  | "private"
  | "shared"
  | "multicast"
  | "unspecified"
  | "reserved";

/** The first kind that holds an address is its kind. Where cloud providers give out credentials stands first. */
const nets: readonly (readonly [AddressKind, readonly string[]])[] = [
  [
    "metadata",
    [
      "169.254.169.254/32",
      "100.100.100.200/32",
      "168.63.129.16/32",
      "192.0.0.192/32",
      "fd00:ec2::254/128",
      "fd20:ce::254/128",
    ],
  ],
  ["link_local", ["169.254.0.0/16", "fe80::/10"]],
  ["loopback", ["127.0.0.0/8", "::1/128"]],
  ["private", ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"]],
  ["shared", ["100.64.0.0/10"]],
  ["unspecified", ["0.0.0.0/8", "::/128"]],
  ["multicast", ["224.0.0.0/4", "ff00::/8"]],
  [
    "reserved",
    [
      "192.0.0.0/24",
      "192.0.2.0/24",
      "192.88.99.0/24",
      "198.18.0.0/15",
      "198.51.100.0/24",
      "203.0.113.0/24",
      "240.0.0.0/4",
      "2001::/23",
      "2001:db8::/32",
      "2002::/16",
      "3fff::/20",
      // All of IPv6 but the one eighth that is given out.
      "::/3",
      "4000::/2",
      "8000::/1",
    ],
  ],
];

const lists = nets.map(([kind, cidrs]) => [kind, netsOf(cidrs)] as const);

/** What an address is for; one that carries an IPv4 address inside is what that one is. */
export function kindOf(address: string): AddressKind {
  const plain = plainForm(address);
  const kindIn = (each: string) => lists.find(([, list]) => list.hold(each))?.[0] ?? "public";
  if (!isIPv6(plain)) return kindIn(plain);
  const { inside, transparent } = embedded(groupsOf(plain));
  const kinds = inside.map(kindIn);
  if (transparent) return kinds[0]!;
  return kinds.find(isNeverOpen) ?? kindIn(plain);
}

/** Whether a kind is refused even where the policy only watches: it is never a receiver, and often a way to credentials. */
export function isNeverOpen(kind: AddressKind): boolean {
  return kind === "metadata" || kind === "link_local";
}

/** A set of nets. */
export interface Nets {
  hold(address: string): boolean;
}

/** The nets that are written so in CIDR form; an address alone is a net of one. */
export function netsOf(cidrs: readonly string[]): Nets {
  // One list a family: a list of both takes every IPv4 address for a part of ::/3.
  const four = new BlockList();
  const six = new BlockList();
  for (const cidr of cidrs) {
    const { net, prefix } = readCidr(cidr);
    if (isIPv6(net)) six.addSubnet(net, prefix, "ipv6");
    else four.addSubnet(net, prefix, "ipv4");
  }
  return {
    hold(address) {
      const plain = plainForm(address);
      return isIPv6(plain) ? six.check(plain, "ipv6") : four.check(plain, "ipv4");
    },
  };
}

/** The parts of a net in CIDR form. */
export function readCidr(cidr: string): { net: string; prefix: number } {
  const [net = "", length] = cidr.split("/");
  return { net, prefix: length === undefined ? (isIPv6(net) ? 128 : 32) : Number(length) };
}

/** An address without its zone; one of IPv4 that is written as one of IPv6 as what it is. */
function plainForm(address: string): string {
  const bare = address.split("%")[0]!;
  if (!isIPv6(bare)) return bare;
  const groups = groupsOf(bare);
  const mapped = groups.slice(0, 6).every((group, index) => group === (index === 5 ? 0xffff : 0));
  return mapped ? ipv4Of(groups[6]!, groups[7]!) : bare;
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const pair = (high: string, low: string) => (Number(high) * 256 + Number(low)).toString(16);
  const text =
    dotted === null ? address : `${dotted[1]}${pair(dotted[2]!, dotted[3]!)}:${pair(dotted[4]!, dotted[5]!)}`;
  const [left = [], right = []] = text.split("::").map((half) => (half === "" ? [] : half.split(":")));
  const zeros = Array<string>(8 - left.length - right.length).fill("0");
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16));
}

interface Embedded {
  /** The IPv4 addresses that an IPv6 address carries. */
  readonly inside: readonly string[];
  /** Whether a packet ends at the address inside, so that its kind is the only one that counts. */
  readonly transparent: boolean;
}

function embedded(groups: readonly number[]): Embedded {
  const at = (index: number) => ipv4Of(groups[index]!, groups[index + 1]!);
  const starts = (...prefix: number[]) => prefix.every((group, index) => groups[index] === group);
  // Behind a NAT64 gateway.
  if (starts(0x64, 0xff9b, 0, 0, 0, 0)) return { inside: [at(6)], transparent: true };
  // Old and local forms of the same, and 6to4: nobody receives there, but the name of the kind should be right.
  if (starts(0, 0, 0, 0, 0, 0) || starts(0, 0, 0, 0, 0xffff, 0) || starts(0x64, 0xff9b, 1)) {
    return { inside: [at(6)], transparent: false };
  }
  if (starts(0x2002)) return { inside: [at(1)], transparent: false };
  // Teredo: the server in the open, the client with its bits turned over.
  if (starts(0x2001, 0)) {
    return { inside: [at(2), ipv4Of(groups[6]! ^ 0xffff, groups[7]! ^ 0xffff)], transparent: false };
  }
  return { inside: [], transparent: false };
}

function ipv4Of(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
