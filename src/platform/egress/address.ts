import { BlockList, isIPv6 } from "node:net";

/** The purpose of an address range. Only public addresses are reachable unless the policy allows others. */
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

/** The ranges of each kind. The first match wins, so the metadata services of cloud providers, which issue credentials, come first. */
const networks: readonly (readonly [AddressKind, readonly string[]])[] = [
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
      // All of IPv6 except the one eighth that is allocated.
      "::/3",
      "4000::/2",
      "8000::/1",
    ],
  ],
];

let lists: readonly (readonly [AddressKind, NetworkSet])[] | undefined;

/** The kind of an address. An IPv6 address with an embedded IPv4 address takes the kind of the latter. */
export function kindOf(address: string): AddressKind {
  const plain = toPlainAddress(address);
  lists ??= networks.map(([kind, cidrs]) => [kind, createNetworkSet(cidrs)] as const);
  const kindIn = (each: string) => lists!.find(([, list]) => list.contains(each))?.[0] ?? "public";
  if (!isIPv6(plain)) return kindIn(plain);
  const { inside, transparent } = findEmbedded(groupsOf(plain));
  const kinds = inside.map(kindIn);
  if (transparent) return kinds[0]!;
  return kinds.find(isRefusedInShadowMode) ?? kindIn(plain);
}

/** Whether a kind is refused even in shadow mode, because it is never a valid receiver and often gives access to credentials. */
export function isRefusedInShadowMode(kind: AddressKind): boolean {
  return kind === "metadata" || kind === "link_local";
}

export interface NetworkSet {
  contains(address: string): boolean;
}

/** Creates a network set from CIDR notation; a single address is a network of one. */
export function createNetworkSet(cidrs: readonly string[]): NetworkSet {
  // One list per address family, because a mixed list treats every IPv4 address as part of ::/3.
  const four = new BlockList();
  const six = new BlockList();
  for (const cidr of cidrs) {
    const { net, prefix } = parseCidr(cidr);
    if (isIPv6(net)) six.addSubnet(net, prefix, "ipv6");
    else four.addSubnet(net, prefix, "ipv4");
  }
  return {
    contains(address) {
      const plain = toPlainAddress(address);
      return isIPv6(plain) ? six.check(plain, "ipv6") : four.check(plain, "ipv4");
    },
  };
}

/** Parses CIDR notation. */
export function parseCidr(cidr: string): { net: string; prefix: number } {
  const [net = "", length] = cidr.split("/");
  return { net, prefix: length === undefined ? (isIPv6(net) ? 128 : 32) : Number(length) };
}

/** Removes the zone of an address and converts an IPv4-mapped IPv6 address to IPv4. */
export function toPlainAddress(address: string): string {
  const bare = address.split("%")[0]!;
  if (!isIPv6(bare)) return bare;
  const groups = groupsOf(bare);
  const mapped = groups.slice(0, 6).every((group, index) => group === (index === 5 ? 0xffff : 0));
  return mapped ? ipv4Of(groups[6]!, groups[7]!) : bare;
}

/** Expands an IPv6 address to its eight groups. */
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
  /** The IPv4 addresses that are embedded in an IPv6 address. */
  readonly inside: readonly string[];
  /** Whether packets are delivered to the embedded address, so that only its kind matters. */
  readonly transparent: boolean;
}

function findEmbedded(groups: readonly number[]): Embedded {
  const at = (index: number) => ipv4Of(groups[index]!, groups[index + 1]!);
  const starts = (...prefix: number[]) => prefix.every((group, index) => groups[index] === group);
  // NAT64.
  if (starts(0x64, 0xff9b, 0, 0, 0, 0)) return { inside: [at(6)], transparent: true };
  // Deprecated and local-use forms of NAT64 and mapped addresses. They are not routed, but their kind should be reported correctly.
  if (starts(0, 0, 0, 0, 0, 0) || starts(0, 0, 0, 0, 0xffff, 0) || starts(0x64, 0xff9b, 1)) {
    return { inside: [at(6)], transparent: false };
  }
  if (starts(0x2002)) return { inside: [at(1)], transparent: false };
  // Teredo: the server's address is embedded as it is, the client's address with inverted bits.
  if (starts(0x2001, 0)) {
    return { inside: [at(2), ipv4Of(groups[6]! ^ 0xffff, groups[7]! ^ 0xffff)], transparent: false };
  }
  return { inside: [], transparent: false };
}

function ipv4Of(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
