import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { type ParsedMail, simpleParser } from "mailparser";
import { SMTPServer } from "smtp-server";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newSender, type ResponseData, type Sender, serveChannel } from "./sender-fixture.ts";

let node: TestService;
before(async () => {
  node = await startService();
});

/** A mail server with configurable rejections, and a tenant that uses it. */
async function mailing(refusal: (nth: number) => { code: number; text: string } | undefined) {
  const arrived: ParsedMail[] = [];
  let asked = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    logger: false,
    onRcptTo(_address, _session, done) {
      const refused = refusal(asked++);
      done(refused && Object.assign(new Error(refused.text), { responseCode: refused.code }));
    },
    async onData(stream, _session, done) {
      arrived.push(await simpleParser(Buffer.concat(await stream.toArray())));
      done();
    },
  });
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  after(() => server.close(() => {}));
  const { port } = server.server.address() as AddressInfo;
  const sender = await newSender(node);
  const settings = { host: "127.0.0.1", port, tls: "none", from: "Shop <shop@example.org>" };
  const integration = await serveChannel(sender, "email", "smtp", { settings, credentials: {} });
  return { sender, integration, arrived, asked: () => asked };
}

/** A mail layout, a workflow that uses it and a subscriber. */
async function reader(sender: Sender): Promise<{ workflow_key: string; subscriber_id: string }> {
  const layout: ResponseData = await sender.ok("POST", "/api/v2/layouts", {
    name: "frame",
    channel: "email",
    engine: "liquid",
    body: "<html><body><h1>Shop</h1>{{ content }}<p>Bye, {{ subscriber.first_name }}</p></body></html>",
  });
  const email = {
    subject: "Order {{ payload.order }}\r\nBcc: all@example.org",
    body: "<p>Dear {{ subscriber.first_name }}, see <a href='https://example.org/o'>your order</a>.</p>",
    layout_id: layout.data.id,
  };
  const workflow_key = await sender.workflow({ channels: { email } });
  const { id } = await sender.subscriber({ first_name: "Zoë <b>", email: "zoe@example.org" });
  return { workflow_key, subscriber_id: id };
}

test("a mail arrives in its layout as text and HTML, escaped once, and no template can inject a header", async () => {
  const { sender, integration, arrived } = await mailing(() => undefined);
  const { outcomes } = await sender.trigger({ ...(await reader(sender)), payload: { order: 7 } });
  assert.equal(outcomes[0].outcome, "sent");
  const [mail] = arrived;
  assert.equal(mail!.subject, "Order 7 Bcc: all@example.org");
  assert.equal(mail!.bcc, undefined);
  assert.deepEqual(
    [(mail!.to as ResponseData).text, mail!.from!.text],
    ["zoe@example.org", '"Shop" <shop@example.org>'],
  );
  assert.ok((mail!.html as string).includes("<h1>Shop</h1><p>Dear Zoë &lt;b&gt;, see"), mail!.html as string);
  assert.ok((mail!.html as string).includes("Bye, Zoë &lt;b&gt;"));
  assert.match(mail!.text!, /Dear Zoë <b>, see your order \(https:\/\/example\.org\/o\)/);
  const delivery = await sender.delivery(outcomes[0].delivery_id);
  assert.equal(delivery.integration_id, integration.id);
  assert.equal(delivery.layout_version, 1);
  assert.ok(mail!.messageId!.toLowerCase().includes(delivery.id.toLowerCase()));
});

const invoice = {
  filename: "invoice {{payload.order}}.pdf",
  content_type: "application/pdf",
  content: "{{payload.pdf}}",
};
const pdf = Buffer.from("%PDF-1.7 Grüße");

test("a mail carries the files of its workflow, or those of its trigger, and an empty one is left out", async () => {
  const { sender, arrived } = await mailing(() => undefined);
  const email = {
    subject: "Order",
    body: "<p>Hi</p>",
    attachments: [invoice, { filename: "terms.txt", content: "{{payload.terms}}" }],
  };
  const workflow_key = await sender.workflow({ channels: { email } });
  const { id: subscriber_id } = await sender.subscriber({ email: "zoe@example.org" });
  const payload = { order: 7, pdf: pdf.toString("base64") };
  await sender.trigger({ workflow_key, subscriber_id, payload });
  const overrides = { email: { attachments: [{ filename: "a.csv", content_type: "text/csv", content: "YSxi" }] } };
  await sender.trigger({ workflow_key, subscriber_id, payload, overrides });
  const files = arrived.map(({ attachments }) =>
    attachments.map(({ filename, contentType, content }) => [filename, contentType, content.toString()]),
  );
  assert.deepEqual(files, [[["invoice 7.pdf", "application/pdf", pdf.toString()]], [["a.csv", "text/csv", "a,b"]]]);

  const { data: preview } = await sender.ok("POST", "/api/v2/notification/workflows:preview", {
    ...{ channel: "email", content: email, payload },
  });
  assert.deepEqual(preview.attachments, [
    { filename: "invoice 7.pdf", content_type: "application/pdf", size_bytes: pdf.length },
  ]);
});

test("files that cannot be attached fail the message, and other channels refuse files", async () => {
  const { sender, arrived } = await mailing(() => undefined);
  const email = { subject: "Order", body: "<p>Hi</p>", attachments: [invoice] };
  const workflow_key = await sender.workflow({ channels: { email } });
  const { id: subscriber_id } = await sender.subscriber({ email: "zoe@example.org" });
  const failures = [
    [{ order: 7, pdf: "no base64!" }, "attachment_invalid"],
    [{ order: "../7", pdf: "YSxi" }, "attachment_invalid"],
  ] as const;
  for (const [payload, code] of failures) {
    const preview = { channel: "email", content: email, payload };
    const refused = await sender.rest.call("POST", "/api/v2/notification/workflows:preview", preview);
    assert.deepEqual([refused.status, refused.body.violations[0].field], [400, "content.attachments"]);
    const { outcomes } = await sender.trigger({ workflow_key, subscriber_id, payload });
    assert.deepEqual(
      [outcomes[0].outcome, outcomes[0].failure_phase, outcomes[0].failure_code],
      ["failed", "render", code],
    );
  }
  const large = {
    ...email,
    attachments: Array.from({ length: 5 }, () => ({ ...invoice, content: "{{payload.pdf}}{{payload.pdf}}" })),
  };
  const twice = await sender.workflow({ channels: { email: large } });
  const payload = { order: 7, pdf: "A".repeat(200_000) };
  const { outcomes } = await sender.trigger({ workflow_key: twice, subscriber_id, payload });
  assert.deepEqual([outcomes[0].outcome, outcomes[0].failure_code], ["failed", "too_large"]);
  assert.equal(arrived.length, 0);
  for (const [channel, content] of [
    ["sms", { body: "Hi", attachments: [invoice] }],
    ["email", { ...email, attachments: [{ ...invoice, content: "{{#if}" }] }],
    ["email", { ...email, attachments: Array(11).fill(invoice) }],
    ["email", { ...email, attachments: [{ ...invoice, content_type: "message/rfc822" }] }],
    ["email", { ...email, attachments: [{ ...invoice, content_type: "Multipart/mixed" }] }],
  ] as const) {
    const { status, body } = await sender.rest.call("PUT", "/api/v2/notification/workflows/refused", {
      channels: { [channel]: content },
    });
    assert.deepEqual([status, body.errorCode], [400, "INVALID_ARGUMENT"]);
    assert.match(body.violations[0].field, new RegExp(`^channels\\.${channel}\\.attachments`));
  }
});

test("each text of a mail is in the subscriber's locale, or else in its language, or else the default one", async () => {
  const { sender, arrived } = await mailing(() => undefined);
  const email = {
    ...{ subject: "Order {{payload.order}}", body: "<p>Hello</p>", text_body: "Hello" },
    locales: {
      de: { subject: "Bestellung {{payload.order}}", body: "<p>Hallo</p>", text_body: "Hallo" },
      "de-CH": { body: "<p>Grüezi</p>", text_body: "Grüezi" },
      "pt-BR": { subject: "Pedido {{payload.order}}", body: "<p>Oi</p>", text_body: "Oi" },
    },
  };
  const workflow_key = await sender.workflow({ channels: { email } });
  const path = "/api/v2/notification/workflows";
  const { data: stored } = await sender.ok("GET", `${path}/${workflow_key}`);
  assert.equal(stored.channels.email.locales["de-CH"].body, "<p>Grüezi</p>");
  const expected = {
    "de-CH": ["Bestellung 7", "Grüezi"],
    "de-AT": ["Bestellung 7", "Hallo"],
    de: ["Bestellung 7", "Hallo"],
    "pt-BR": ["Pedido 7", "Oi"],
    pt: ["Order 7", "Hello"],
    fr: ["Order 7", "Hello"],
  };
  for (const locale of Object.keys(expected)) {
    const { id: subscriber_id } = await sender.subscriber({ email: `${locale}@example.org`, locale });
    await sender.trigger({ workflow_key, subscriber_id, payload: { order: 7 } });
    const content = { channel: "email", content: email, payload: { order: 7 }, subscriber: { locale } };
    const { data: preview } = await sender.ok("POST", `${path}:preview`, content);
    assert.deepEqual([preview.subject, preview.text_body], expected[locale as keyof typeof expected]);
    assert.equal(preview.locale, { "de-AT": "de", pt: "", fr: "" }[locale] ?? locale);
  }
  assert.deepEqual(
    arrived.map(({ subject, text }) => [subject, text!.trim()]),
    Object.values(expected),
  );
  // What a trigger brings replaces the text of every locale.
  const { id: subscriber_id } = await sender.subscriber({ email: "ch@example.org", locale: "de-CH" });
  const overrides = { email: { subject: "Late" } };
  await sender.trigger({ workflow_key, subscriber_id, payload: { order: 7 }, overrides });
  assert.deepEqual([arrived.at(-1)!.subject, arrived.at(-1)!.text!.trim()], ["Late", "Grüezi"]);
  for (const [locales, field] of [
    [{ de: { body: "{{#if}" } }, "channels.email.locales.de.body"],
    [{ "not a tag": { body: "x" } }, "channels.email.locales"],
    [{ de: { body: "x".repeat(65_537) } }, "channels.email.locales"],
  ] as const) {
    const { status, body } = await sender.rest.call("PUT", `${path}/refused`, {
      channels: { email: { ...email, locales } },
    });
    assert.deepEqual([status, body.errorCode], [400, "INVALID_ARGUMENT"]);
    assert.ok(body.violations[0].field.startsWith(field), body.violations[0].field);
  }
});

test("a deferred mail is sent later, and a rejected one is not", async () => {
  const later = await mailing((nth) => (nth === 0 ? { code: 451, text: "4.3.0 later" } : undefined));
  const put = await later.sender.trigger(await reader(later.sender));
  assert.deepEqual([put.outcomes[0].outcome, put.outcomes[0].retryable], ["failed", true]);
  await until(
    () => later.sender.delivery(put.outcomes[0].delivery_id),
    ({ status }) => status === "sent",
  );
  assert.equal(later.arrived.length, 1);

  const never = await mailing(() => ({ code: 550, text: "5.1.1 no such user" }));
  const refused = await never.sender.trigger(await reader(never.sender));
  const [{ outcome, retryable, failure_code }] = refused.outcomes;
  assert.deepEqual([outcome, retryable, failure_code], ["failed", false, "recipient_rejected"]);
  assert.equal(never.asked(), 1);
});
