import assert from "node:assert/strict";
import { test } from "node:test";
import { type AddressKind, kindOf } from "./address.ts";

const known: Record<AddressKind, readonly string[]> = {
  public: [
    "8.8.8.8",
    "1.1.1.1",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "223.255.255.255",
    "2606:4700::1111",
    "2a00:1450:4001:81b::200e",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "64:ff9b::808:808",
  ],
  metadata: [
    "169.254.169.254",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "fd00:ec2::254",
    "fd20:ce::254",
    "::ffff:169.254.169.254",
    "::ffff:a9fe:a9fe",
    "::169.254.169.254",
    "::ffff:0:169.254.169.254",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::169.254.169.254",
    "2002:a9fe:a9fe::1",
    // Teredo with the metadata address as its client, with inverted bits.
    "2001:0:808:808:0:0:5601:5601",
    "2001:0:a9fe:a9fe::",
  ],
  link_local: ["169.254.0.1", "169.254.255.255", "fe80::1", "fe80::1%eth0", "febf:ffff::1", "::ffff:169.254.1.1"],
  loopback: [
    "127.0.0.1",
    "127.255.255.254",
    "::1",
    "0:0:0:0:0:0:0:1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "64:ff9b::7f00:1",
  ],
  private: [
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "fc00::1",
    "fdff::1",
    "fec0::1",
    "::ffff:10.0.0.1",
  ],
  shared: ["100.64.0.1", "100.127.255.255", "64:ff9b::100.64.0.1"],
  unspecified: ["0.0.0.0", "0.1.2.3", "::", "::ffff:0.0.0.0"],
  multicast: ["224.0.0.1", "239.255.255.255", "ff02::1"],
  reserved: [
    "192.0.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "240.0.0.1",
    "255.255.255.255",
    "2001:db8::1",
    "3fff::1",
    "::127.0.0.1",
    "2002:7f00:1::1",
    "2002:808:808::1",
    "2001:0:808:808:0:0:8080:fffe",
    "64:ff9b:1::1",
    "100::1",
    "5f00::1",
    "4000::1",
    "8000::1",
  ],
};

for (const [kind, addresses] of Object.entries(known)) {
  test(`${kind} addresses are recognised in every notation`, () => {
    for (const address of addresses) assert.equal(kindOf(address), kind, address);
  });
}
