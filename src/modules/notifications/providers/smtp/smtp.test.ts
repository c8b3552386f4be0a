import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { after, test } from "node:test";
import { type ParsedMail, simpleParser } from "mailparser";
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from "smtp-server";
import { createAuthority } from "../../../../../test/harness/certificates.ts";
import { startRawReceiver } from "../../../../platform/egress/testing/receivers.ts";
import { connectionTo, message, neverAborted, outcome, startProviders } from "../testing/provider-fixture.ts";

interface Arrived {
  readonly mail: ParsedMail;
  readonly raw: string;
  /** The sender, then the recipients. */
  readonly envelope: readonly unknown[];
}

/** Closes a session's connection like a server crash. */
type Cut = (session: SMTPServerSession) => void;

/** Starts a mail server on loopback that records accepted mails. */
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

test("a mail arrives as MIME in text and HTML, with the same Message-ID for every attempt", async () => {
  const providers = startProviders();
  const { port, arrived } = await mailServer();
  const text = "Grüße, Ada\n.\nA dot alone ends nothing.";
  const mail = message({ subject: "Grüße – 見て", text, html: "<p>Grüße, <b>Ada</b></p>" });
  const connection = plain(port, { reply_to: "help@example.org" });
  const results = [
    await providers.send(connection, "smtp", mail, neverAborted),
    await providers.send(connection, "smtp", mail, neverAborted),
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

test("message content cannot add a header or a recipient", async () => {
  const providers = startProviders();
  const { port, arrived } = await mailServer();
  const subject = "Hello\r\nBcc: eve@example.com\r\n\r\nAnother body";
  const data = { list_unsubscribe: "https://example.org/leave>\r\nX-Evil: 1", headers: { "X-A": "1\r\nX-Evil: 2" } };
  assert.equal(
    outcome(await providers.send(plain(port), "smtp", message({ subject, data }), neverAborted)),
    "accepted",
  );
  const { mail, envelope } = arrived[0]!;
  assert.equal(mail.subject, "Hello Bcc: eve@example.com Another body");
  assert.equal(mail.headers.has("bcc") || mail.headers.has("x-evil") || mail.headers.has("list-unsubscribe"), false);
  assert.deepEqual(envelope, ["news@example.org", "ada@example.com"]);
  for (const to of [
    "ada@example.com>\r\nRCPT TO:<eve@example.com",
    "ada@example.com\nX: 1",
    "a@b.c, eve@example.com",
  ]) {
    const result = await providers.send(plain(port), "smtp", message({ to }), neverAborted);
    assert.equal(outcome(result), "provider/recipient_rejected", to);
  }
  assert.equal(arrived.length, 1);
});

test("a mail has the headers and the List-Unsubscribe headers that its data provides", async () => {
  const providers = startProviders();
  const { port, arrived } = await mailServer();
  const headers = { "X-Order": "A-17", "X-Greeting": "Grüße", "X-Empty": "" };
  const data = { headers, list_unsubscribe: "https://example.org/leave?t=1", list_unsubscribe_one_click: true };
  await providers.send(plain(port), "smtp", message({ data }), neverAborted);
  assert.match(arrived[0]!.raw, /^List-Unsubscribe: <https:\/\/example\.org\/leave\?t=1>\r$/m);
  assert.match(arrived[0]!.raw, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
  assert.match(arrived[0]!.raw, /^X-Order: A-17\r$/m);
  assert.match(arrived[0]!.raw, /^X-Greeting: =\?UTF-8\?Q\?Gr=C3=BC=C3=9Fe\?=\r$/m);
  assert.doesNotMatch(arrived[0]!.raw, /^X-Empty/m);
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
  test(`a server that replies ${code} ${text} to ${stage} results in ${expected}`, async () => {
    const providers = startProviders();
    const refusal = () => Object.assign(new Error(text), { responseCode: code });
    const { port } = await mailServer({
      ...(stage === "MAIL" && { onMailFrom: (_address, _session, done) => done(refusal()) }),
      ...(stage === "RCPT" && { onRcptTo: (_address, _session, done) => done(refusal()) }),
      ...(stage === "DATA" && {
        onData: (stream, _session, done) => stream.on("end", () => done(refusal())).resume(),
      }),
    });
    const result = await providers.send(plain(port), "smtp", message(), neverAborted);
    assert.equal(outcome(result), expected);
    assert.ok(result.kind === "failed" && result.detail.includes(String(code)) && !result.detail.includes("user"));
  });
}

const large = "A line of a long mail.\n".repeat(100_000);
// Larger than the socket buffers of a server that has stopped reading.
const huge = large.repeat(10);
const lost = "provider/unavailable retry failover";
const unknown = "provider/outcome_unknown maybe_arrived";
const cuts: readonly (readonly [
  when: string,
  outcome: string,
  text: string,
  options: (cut: Cut) => SMTPServerOptions,
])[] = [
  ["before it greets", "egress/connect_failed retry failover", "", (cut) => ({ onConnect: (session) => cut(session) })],
  ["instead of replying to MAIL FROM", lost, "", (cut) => ({ onMailFrom: (_address, session) => cut(session) })],
  ["instead of replying to RCPT TO", lost, "", (cut) => ({ onRcptTo: (_address, session) => cut(session) })],
  [
    "in the middle of a long mail",
    lost,
    huge,
    (cut) => ({ onData: (stream, session) => void stream.once("data", () => cut(session)) }),
  ],
  [
    "instead of replying to a complete mail",
    unknown,
    "",
    (cut) => ({ onData: (stream, session) => void stream.on("end", () => cut(session)).resume() }),
  ],
  [
    "instead of replying to a complete long mail",
    unknown,
    large,
    (cut) => ({ onData: (stream, session) => void stream.on("end", () => cut(session)).resume() }),
  ],
];
for (const hidePIPELINING of [false, true]) {
  for (const [when, expected, text, options] of cuts) {
    const title = `a server ${hidePIPELINING ? "without" : "with"} pipelining that disconnects ${when} results in ${expected}`;
    test(title, async () => {
      const providers = startProviders();
      const { port } = await mailServer((cut) => ({ hidePIPELINING, ...options(cut) }));
      const result = await providers.send(plain(port), "smtp", message({ text: text || "Hello" }), neverAborted);
      assert.equal(outcome(result), expected);
    });
  }
}

test("a server that disconnects before DATA has received nothing", async () => {
  const providers = startProviders();
  const { port } = await startRawReceiver((socket) => {
    socket.write("220 here\r\n");
    socket.on("data", (command) => {
      if (command.toString().startsWith("DATA")) socket.destroy();
      else socket.write("250 yes\r\n");
    });
  });
  assert.equal(outcome(await providers.send(plain(port), "smtp", message(), neverAborted)), lost);
});

test("a closed port, an unresolvable name and a denied address are distinguished", async () => {
  const providers = startProviders();
  const { port, server } = await mailServer();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  const send = (connection: ReturnType<typeof plain>, by = providers) =>
    by.send(connection, "smtp", message(), neverAborted);
  assert.equal(outcome(await send(plain(port))), "egress/connect_failed retry failover");
  assert.equal(outcome(await send(plain(port, { host: "mail.invalid" }))), "egress/dns_failed retry failover");
  const guarded = startProviders({ open: false });
  assert.equal(outcome(await send(plain(port), guarded)), "egress/denied failover");
  assert.equal(outcome(await send(plain(port, { host: "mail.example" }), guarded)), "egress/denied failover");
});

test("a password is sent only over TLS, to a server with a certificate that is valid for its name", async () => {
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
    const send = (to: ReturnType<typeof connection>, by = trusting) => by.send(to, "smtp", message(), neverAborted);
    assert.equal(outcome(await send(connection("mail.example", "right"))), "accepted");
    assert.equal(arrived.length, 1);
    assert.equal(outcome(await send(connection("mail.example", "wrong"))), "provider/auth_rejected failover");
    const before = logins.length;
    assert.equal(outcome(await send(connection("other.example", "right"))), "egress/tls_failed retry failover");
    const strict = startProviders();
    assert.equal(outcome(await send(connection("mail.example", "right"), strict)), "egress/tls_failed retry failover");
    assert.equal(logins.length, before, "no login is sent to an untrusted server");
  }
});

test("a server without STARTTLS receives neither password nor mail when STARTTLS is required", async () => {
  const providers = startProviders();
  const { port, arrived } = await mailServer();
  const connection = connectionTo("smtp", { host: "127.0.0.1", port, tls: "starttls", from: "news@example.org" });
  assert.equal(
    outcome(await providers.send(connection, "smtp", message(), neverAborted)),
    "egress/tls_failed retry failover",
  );
  assert.equal(arrived.length, 0);
});

test("sessions are reused, at most five are open at the same time, and a disconnected one is replaced", async () => {
  const providers = startProviders();
  const { port, arrived, connections, server } = await mailServer();
  const send = () => providers.send(plain(port), "smtp", message(), neverAborted);
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

test("an idle session that breaks before the server replies loses no mail: a new session replaces it", async () => {
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
    assert.equal(outcome(await providers.send(plain(port), "smtp", message(), neverAborted)), "accepted");
  assert.deepEqual([arrived.length, served.size], [3, 3]);
});

test("a send aborted before the mail is transmitted has sent nothing; after that the outcome is unknown", async () => {
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
