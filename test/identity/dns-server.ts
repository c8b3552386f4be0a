import dgram from "node:dgram";
import { once } from "node:events";
import { afterFile } from "../harness/after-file.ts";

/** A name server with TXT records, by lower-case name. */
export interface DnsServer {
  /** The address and the port. */
  readonly address: string;
  readonly records: Map<string, readonly string[]>;
}

const txt = 16;
const nameError = 3;

/** Starts a name server on a free port (RFC 1035). Names without a record do not exist. */
export async function startDnsServer(): Promise<DnsServer> {
  const records: DnsServer["records"] = new Map();
  const socket = dgram.createSocket("udp4");
  socket.on("message", (query, { port, address }) => socket.send(answerOf(query, records), port, address));
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  afterFile(() => void socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, records };
}

function answerOf(query: Buffer, records: DnsServer["records"]): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += length + 1;
  }
  const question = query.subarray(12, at + 5);
  const isTxt = query.readUInt16BE(at + 1) === txt;
  const texts = records.get(labels.join(".").toLowerCase());
  const found = isTxt ? (texts ?? []) : [];
  const header = Buffer.alloc(12);
  header.writeUInt16BE(query.readUInt16BE(0), 0);
  header.writeUInt16BE(0x8180 | (texts === undefined ? nameError : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(found.length, 6);
  return Buffer.concat([header, question, ...found.map(txtRecord)]);
}

/** A TXT record of the name in the question. Texts are split into strings of up to 255 bytes. */
function txtRecord(text: string): Buffer {
  const bytes = Buffer.from(text);
  const strings: Buffer[] = [];
  for (let from = 0; from < bytes.length; from += 255) {
    const part = bytes.subarray(from, from + 255);
    strings.push(Buffer.from([part.length]), part);
  }
  const data = Buffer.concat(strings);
  const head = Buffer.from([0xc0, 12, 0, txt, 0, 1, 0, 0, 0, 0, data.length >> 8, data.length & 0xff]);
  return Buffer.concat([head, data]);
}
