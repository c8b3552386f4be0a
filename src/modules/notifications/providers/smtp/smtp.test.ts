import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { after, test } from "node:test";
import { type ParsedMail, simpleParser } from "mailparser";
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from "smtp-server";
import { createAuthority } from "../../../../../test/harness/certificates.ts";
import { startRawReceiver } from "../../../../platform/egress/testing/receivers.ts";
import { connectionTo, message, outcome, patient, startProviders } from "../testing/rig.ts";

interface Arrived {
  readonly mail: ParsedMail;
  readonly raw: string;
  /** The sender, then the recipients. */
  readonly envelope: readonly unknown[];
}

/** Cuts a session's connection, as a crash of its server would. */
type Cut = (session: SMTPServerSession) => void;

/** A mail server on loopback that keeps what it accepts. */
async function mailServer(given: SMTPServerOptions | ((cut: Cut) => SMTPServerOptions) = {}) {
  const arrived: Arrived[] = [];
  const cut: Cut = ({ id }) => {
    const all = [...(server.connections as unknown as Set<{ id: string; _socket: Socket }>)];
    all.find((each) => each.id === id)!._socket.destroy();
  };
  const options = typeof given === "function" ? given(cut) : given;
  let connections = 0;
  const server: SMTPServer = new SMTPServer({
    authOptional: true,
    disabledCommands: options.secure || options.key ? [] : ["STARTTLS", "AUTH"],
    logger: false,
    onConnect: (_session, done) => {
      connections++;
      done();
    },
    async onData(stream, session, done) {
      const { mailFrom, rcptTo } = session.envelope;
      const envelope = [mailFrom, ...rcptTo].map((each) => (each === false ? false : each.address));
      const raw = Buffer.concat(await stream.toArray()).toString("utf8");
      arrived.push({ raw, envelope, mail: await simpleParser(raw) });
      done();
    },
    ...options,
  });
  server.on("error", () => {});
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  after(() => server.close(() => {}));
  return {
    server,
    arrived,
    port: (server.server.address() as AddressInfo).port,
    connections: () => connections,
  };
}

const plain = (port: number, more: object = {}) =>
  connectionTo("smtp", { host: "127.0.0.1", port, tls: "none", from: "Switchyard <news@example.org>", ...more });

test("a mail arrives as MIME in text and HTML, with a Message-ID that is the same at every attempt", async () => {
  const providers = startProviders();
  const { port, arrived } = await mailServer();
  const text = "Grüße, Ada\n.\nA dot alone ends nothing.";
  const mail = message({ subject: "Grüße – 見て", text, html: "<p>Grüße, <b>Ada</b></p>" });
  const connection = plain(port, { reply_to: "help@example.org" });
  const results = [
    await providers.send(connection, "smtp", mail, patient),
    await providers.send(connection, "smtp", mail, patient),
  ];
  const messageId = `<${mail.deliveryId}@example.org>`;
  for (const result of results) {
    assert.deepEqual(result, { kind: "accepted", providerMessageId: messageId, observed: false });
  }
  assert.equal(arrived.length, 2);
  const [{ mail: first, raw, envelope }] = arrived as [Arrived];
  assert.match(raw, /^Content-Type: multipart\/alternative;/m);
  assert.equal(first.subject, "Grüße – 見て");
  assert.equal(first.text, text);
  assert.match(first.html || "", /<b>Ada<\/b>/);
  assert.deepEqual(first.from!.value, [{ name: "Switchyard", address: "news@example.org" }]);
  assert.equal(first.replyTo!.value[0]!.address, "help@example.org");
  assert.deepEqual(new Set(arrived.map((each) => each.mail.messageId)), new Set([messageId]));
  assert.deepEqual(envelope, ["news@example.org", "ada@example.com"]);
});

test("nothing in a message adds a header or a recipient", async () => {
  const providers = startProviders();
  const { port, arrived } = await mailServer();
  const subject = "Hello\r\nBcc: eve@example.com\r\n\r\nAnother body";
  const data = { list_unsubscribe: "https://example.org/leave>\r\nX-Evil: 1" };
  assert.equal(outcome(await providers.send(plain(port), "smtp", message({ subject, data }), patient)), "accepted");
  const { mail, envelope } = arrived[0]!;
  assert.equal(mail.subject, "Hello Bcc: eve@example.com Another body");
  assert.equal(mail.headers.has("bcc") || mail.headers.has("x-evil") || mail.headers.has("list-unsubscribe"), false);
  assert.deepEqual(envelope, ["news@example.org", "ada@example.com"]);
  for (const to of [
    "ada@example.com>\r\nRCPT TO:<eve@example.com",
    "ada@example.com\nX: 1",
    "a@b.c, eve@example.com",
  ]) {
    const result = await providers.send(plain(port), "smtp", message({ to }), patient);
    assert.equal(outcome(result), "provider/recipient_rejected", to);
  }
  assert.equal(arrived.length, 1);
});

test("a mail says how to leave where its data does", async () => {
  const providers = startProviders();
  const { port, arrived } = await mailServer();
  const data = { list_unsubscribe: "https://example.org/leave?t=1", list_unsubscribe_one_click: true };
  await providers.send(plain(port), "smtp", message({ data }), patient);
  assert.match(arrived[0]!.raw, /^List-Unsubscribe: <https:\/\/example\.org\/leave\?t=1>\r$/m);
  assert.match(arrived[0]!.raw, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
});

const answers: readonly (readonly [stage: "MAIL" | "RCPT" | "DATA", code: number, text: string, outcome: string])[] = [
  ["MAIL", 451, "4.3.0 later", "provider/unavailable retry failover"],
  ["MAIL", 530, "5.7.0 log in first", "provider/auth_rejected failover"],
  ["MAIL", 550, "5.1.8 bad sender", "provider/content_rejected"],
  ["RCPT", 450, "4.2.1 greylisted", "provider/unavailable retry failover"],
  ["RCPT", 550, "5.1.1 no such user", "provider/recipient_rejected suppress"],
  ["RCPT", 550, "no such user", "provider/recipient_rejected"],
  ["RCPT", 550, "5.7.1 relaying denied", "provider/recipient_rejected"],
  ["DATA", 452, "4.2.2 mailbox full", "provider/unavailable retry failover"],
  ["DATA", 552, "5.3.4 too large", "provider/content_rejected"],
  ["DATA", 554, "5.7.1 spam", "provider/content_rejected"],
  ["DATA", 550, "5.1.1 no such user", "provider/recipient_rejected suppress"],
];
for (const [stage, code, text, expected] of answers) {
  test(`a server that answers ${code} ${text} to ${stage} comes to ${expected}`, async () => {
    const providers = startProviders();
    const refusal = () => Object.assign(new Error(text), { responseCode: code });
    const { port } = await mailServer({
      ...(stage === "MAIL" && { onMailFrom: (_address, _session, done) => done(refusal()) }),
      ...(stage === "RCPT" && { onRcptTo: (_address, _session, done) => done(refusal()) }),
      ...(stage === "DATA" && {
        onData: (stream, _session, done) => stream.on("end", () => done(refusal())).resume(),
      }),
    });
    const result = await providers.send(plain(port), "smtp", message(), patient);
    assert.equal(outcome(result), expected);
    assert.ok(result.kind === "failed" && result.detail.includes(String(code)) && !result.detail.includes("user"));
  });
}

const large = "A line of a long mail.\n".repeat(100_000);
// More than the system keeps for a server that has stopped reading.
const huge = large.repeat(10);
const lost = "provider/unavailable retry failover";
const unknown = "provider/outcome_unknown doubt";
const cuts: readonly (readonly [
  when: string,
  outcome: string,
  text: string,
  options: (cut: Cut) => SMTPServerOptions,
])[] = [
  ["before it greets", "egress/connect_failed retry failover", "", (cut) => ({ onConnect: (session) => cut(session) })],
  ["instead of answering MAIL FROM", lost, "", (cut) => ({ onMailFrom: (_address, session) => cut(session) })],
  ["instead of answering RCPT TO", lost, "", (cut) => ({ onRcptTo: (_address, session) => cut(session) })],
  [
    "in the middle of a long mail",
    lost,
    huge,
    (cut) => ({ onData: (stream, session) => void stream.once("data", () => cut(session)) }),
  ],
  [
    "instead of answering to a mail that it has",
    unknown,
    "",
    (cut) => ({ onData: (stream, session) => void stream.on("end", () => cut(session)).resume() }),
  ],
  [
    "instead of answering to a long mail that it has",
    unknown,
    large,
    (cut) => ({ onData: (stream, session) => void stream.on("end", () => cut(session)).resume() }),
  ],
];
for (const hidePIPELINING of [false, true]) {
  for (const [when, expected, text, options] of cuts) {
    const title = `a server ${hidePIPELINING ? "without" : "with"} pipelining that hangs up ${when} comes to ${expected}`;
    test(title, async () => {
      const providers = startProviders();
      const { port } = await mailServer((cut) => ({ hidePIPELINING, ...options(cut) }));
      const result = await providers.send(plain(port), "smtp", message({ text: text || "Hello" }), patient);
      assert.equal(outcome(result), expected);
    });
  }
}

test("a server that hangs up instead of asking for the mail has nothing of it", async () => {
  const providers = startProviders();
  const { port } = await startRawReceiver((socket) => {
    socket.write("220 here\r\n");
    socket.on("data", (command) => {
      if (command.toString().startsWith("DATA")) socket.destroy();
      else socket.write("250 yes\r\n");
    });
  });
  assert.equal(outcome(await providers.send(plain(port), "smtp", message(), patient)), lost);
});

test("nobody at the port, a name without an address, and a forbidden address are told apart", async () => {
  const providers = startProviders();
  const { port, server } = await mailServer();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  const send = (connection: ReturnType<typeof plain>, by = providers) =>
    by.send(connection, "smtp", message(), patient);
  assert.equal(outcome(await send(plain(port))), "egress/connect_failed retry failover");
  assert.equal(outcome(await send(plain(port, { host: "mail.invalid" }))), "egress/dns_failed retry failover");
  const guarded = startProviders({ open: false });
  assert.equal(outcome(await send(plain(port), guarded)), "egress/denied failover");
  assert.equal(outcome(await send(plain(port, { host: "mail.example" }), guarded)), "egress/denied failover");
});

test("a password goes over a secure connection only, to a server whose certificate is good for its name", async () => {
  const authority = await createAuthority("CN=Test authority");
  const identity = await authority.issue("CN=mail.example");
  const logins: string[] = [];
  const options: SMTPServerOptions = {
    ...identity,
    authOptional: false,
    onAuth: ({ username, password }, _session, done) => {
      logins.push(`${username}:${password}`);
      if (password === "right") done(null, { user: username });
      else done(Object.assign(new Error("5.7.8 no"), { responseCode: 535 }));
    },
  };
  const trusting = startProviders({ ca: authority.cert });
  for (const tls of ["implicit", "starttls"] as const) {
    const { port, arrived } = await mailServer({ ...options, secure: tls === "implicit" });
    const connection = (host: string, password: string) =>
      connectionTo("smtp", { host, port, tls, from: "news@example.org" }, { username: "ada", password });
    const send = (to: ReturnType<typeof connection>, by = trusting) => by.send(to, "smtp", message(), patient);
    assert.equal(outcome(await send(connection("mail.example", "right"))), "accepted");
    assert.equal(arrived.length, 1);
    assert.equal(outcome(await send(connection("mail.example", "wrong"))), "provider/auth_rejected failover");
    const before = logins.length;
    assert.equal(outcome(await send(connection("other.example", "right"))), "egress/tls_failed retry failover");
    const strict = startProviders();
    assert.equal(outcome(await send(connection("mail.example", "right"), strict)), "egress/tls_failed retry failover");
    assert.equal(logins.length, before, "nothing is said to a server that is not known");
  }
});

test("a server without STARTTLS gets neither password nor mail where one is wanted", async () => {
  const providers = startProviders();
  const { port, arrived } = await mailServer();
  const connection = connectionTo("smtp", { host: "127.0.0.1", port, tls: "starttls", from: "news@example.org" });
  assert.equal(
    outcome(await providers.send(connection, "smtp", message(), patient)),
    "egress/tls_failed retry failover",
  );
  assert.equal(arrived.length, 0);
});

test("a session serves one mail after another, at most five at once, and one that was hung up on is replaced", async () => {
  const providers = startProviders();
  const { port, arrived, connections, server } = await mailServer();
  const send = () => providers.send(plain(port), "smtp", message(), patient);
  assert.equal(outcome(await send()), "accepted");
  assert.equal(outcome(await send()), "accepted");
  assert.equal(connections(), 1);
  const many = await Promise.all(Array.from({ length: 40 }, send));
  assert.deepEqual(new Set(many.map(outcome)), new Set(["accepted"]));
  assert.equal(arrived.length, 42);
  assert.ok(connections() <= 5);
  const before = connections();
  for (const each of server.connections as unknown as Set<{ _socket: Socket }>) each._socket.destroy();
  assert.equal(outcome(await send()), "accepted");
  assert.equal(connections(), before + 1);
});

test("a kept session that breaks before anything was answered costs no mail: a new one takes its place", async () => {
  const providers = startProviders();
  const served = new Set<string>();
  const { port, arrived } = await mailServer((cut) => ({
    onMailFrom(_address, session, done) {
      if (served.has(session.id)) return cut(session);
      served.add(session.id);
      done();
    },
  }));
  for (let i = 0; i < 3; i++)
    assert.equal(outcome(await providers.send(plain(port), "smtp", message(), patient)), "accepted");
  assert.deepEqual([arrived.length, served.size], [3, 3]);
});

test("whoever is interrupted before the mail was sent has sent nothing; after that nobody knows", async () => {
  const providers = startProviders();
  const early = new AbortController();
  const silent = await mailServer({ onMailFrom: () => early.abort() });
  assert.equal(
    outcome(await providers.send(plain(silent.port), "smtp", message(), early.signal)),
    "system/cancelled retry",
  );
  assert.equal(
    outcome(await providers.send(plain(silent.port), "smtp", message(), early.signal)),
    "system/cancelled retry",
  );
  const late = new AbortController();
  const slow = await mailServer({ onData: (stream) => void stream.on("end", () => late.abort()).resume() });
  assert.equal(outcome(await providers.send(plain(slow.port), "smtp", message(), late.signal)), unknown);
});
