import assert from "node:assert/strict";
import { test } from "node:test";
import { jwtVerify } from "jose";
import { loadBuiltinProviders } from "../../../src/modules/connectors/manifests/catalogue/builtin-providers.ts";
import type { Provider } from "../../../src/modules/connectors/manifests/domain/provider.ts";
import type {
  ExpectedRequest,
  MessageContract,
  RecordedAnswer,
  SendContract,
} from "../../../src/modules/connectors/manifests/testing/contract.ts";
import { contractKeyPair, readContract } from "../../../src/modules/connectors/manifests/testing/contract.ts";
import { type MockedRequest, startMock } from "../../../src/modules/connectors/manifests/testing/mock-provider.ts";
import type { ChannelMessage } from "../../../src/modules/connectors/messaging/index.ts";
import type { JsonObject } from "../../../src/platform/document/index.ts";
import { type Egress, EgressError } from "../../../src/platform/egress/index.ts";
import { createAuthority } from "../../harness/certificates.ts";
import { failsWith } from "../../harness/context.ts";
import { connectionOf, contractMs, messagingWith } from "./messaging-fixture.ts";
import { certificateUrl, signedBySns, signedCallback } from "./signed-callbacks.ts";

const providers = loadBuiltinProviders().filter(({ messages }) => messages !== undefined);
const authority = await createAuthority("CN=Amazon");
const amazon = await authority.issue("CN=sns.amazonaws.com");
const signal = new AbortController().signal;

function contractOf(provider: Provider) {
  const contract = readContract(provider.key);
  assert.ok(
    contract?.notifications,
    `${provider.key} needs notifications in connectors/contracts/${provider.key}.json`,
  );
  return { contract, notifications: contract.notifications };
}

function messageOf({ channel, message }: SendContract): ChannelMessage {
  const {
    to,
    to_data: metadata = {},
    subject = "",
    title = "",
    text = "",
    html = "",
    headers = {},
    data = {},
    attachments = [],
  } = message;
  return {
    deliveryId: "delivery-1",
    key: "key-1",
    channel,
    to: { identity: to, metadata },
    subject,
    title,
    text,
    html,
    headers,
    data,
    attachments: attachments.map(({ content_type: contentType, ...file }) => ({ ...file, contentType })),
  };
}

function checkRequest({ method, host, path, headers, body }: MockedRequest, expected: ExpectedRequest): void {
  assert.equal(`${method} https://${host}${path}`, `${expected.method} ${expected.url}`);
  for (const [name, value] of Object.entries(expected.headers ?? {})) assert.equal(headers[name], value, name);
  const text = body.toString("utf8");
  if (expected.form === undefined) assert.deepEqual(JSON.parse(text), expected.json);
  else assert.deepEqual(Object.fromEntries(new URLSearchParams(text)), expected.form);
}

test("mail, push and chat are served by built-in manifests", () => {
  const keys = ["apns", "discord", "mailgun", "postmark", "resend", "sendgrid", "ses", "teams", "telegram", "whatsapp"];
  assert.deepEqual(
    providers.map(({ key }) => key),
    keys,
  );
});

test("a provider whose manifest takes no attachments sends none of a message with them", async () => {
  const mailgun = providers.find(({ key }) => key === "mailgun")!;
  const { contract, notifications } = contractOf(mailgun);
  const mock = await startMock(mailgun);
  const message = messageOf(notifications.sends[0]!);
  const attachments = [{ filename: "a.txt", contentType: "text/plain", content: "SGk=" }];
  try {
    assert.deepEqual(
      await messagingWith(mailgun, mock).send(connectionOf(mailgun, contract), { ...message, attachments }, signal),
      { kind: "unsendable", detail: "The message does not fit the provider: it takes no attachments." },
    );
    assert.equal(mock.requests.length, 0);
  } finally {
    await mock.close();
  }
});

for (const provider of providers) {
  test(`${provider.key}: messages are sent as the vendor documents, and its refusals are understood`, async () => {
    const { contract, notifications } = contractOf(provider);
    const mock = await startMock(provider);
    const messaging = messagingWith(provider, mock);
    const answer = ({ status, headers, body, text }: RecordedAnswer) =>
      mock.fail("*", { kind: "answer", status, headers, body: text ?? body });
    const send = (which: SendContract) => messaging.send(connectionOf(provider, contract), messageOf(which), signal);
    try {
      for (const which of notifications.sends) {
        answer(which.response);
        const isObserved = notifications.callbacks.length > 0;
        assert.deepEqual(await send(which), { kind: "accepted", messageId: which.message_id, isObserved });
        checkRequest(mock.requests.at(-1)!, which.request);
      }
      const [first] = notifications.sends as [SendContract];
      await checkRefusals(notifications, answer, () => send(first));

      answer(contract.rate_limit);
      const limited = await send(first);
      assert.equal(limited.kind === "refused" && limited.failure, "rate_limited");
      const { retry_after_s: waitS } = contract.rate_limit;
      if (waitS !== undefined) assert.equal(limited.kind === "refused" && limited.retryAfterMs, waitS * 1000);

      const isRepeatable = provider.key === "resend";
      const faults = [{ kind: "malformed" }, { kind: "cut" }, { kind: "cut", when: "in_answer" }] as const;
      for (const fault of faults) {
        mock.fail("*", fault);
        const unknown = await send(first);
        assert.equal(unknown.kind, "unknown", JSON.stringify([fault, unknown]));
        if (fault.kind === "cut") assert.equal(unknown.kind === "unknown" && unknown.isRepeatable, isRepeatable);
      }
      assert.deepEqual(mock.undeclared, []);
    } finally {
      await mock.close();
    }
  });
}

async function checkRefusals(
  { failures }: MessageContract,
  answer: (recorded: RecordedAnswer) => void,
  send: () => ReturnType<ReturnType<typeof messagingWith>["send"]>,
): Promise<void> {
  for (const recorded of failures) {
    answer(recorded);
    const outcome = await send();
    const read = outcome.kind === "refused" ? [outcome.failure, outcome.suppress] : outcome;
    assert.deepEqual(read, [recorded.failure, recorded.suppress ?? false], JSON.stringify(recorded));
  }
}

/** An egress that serves only the certificate of Amazon and records what else is requested. */
function amazonEgress(requested: string[] = []): { egress: Egress } {
  return {
    egress: {
      async request({ url }) {
        requested.push(url);
        return { status: 200, headers: {}, body: Buffer.from(url === certificateUrl ? amazon.cert : "") };
      },
      resolve: async () => assert.fail("nothing is resolved"),
    },
  };
}

for (const provider of providers.filter(({ messages }) => messages?.callbacks !== undefined)) {
  const { contract, notifications } = contractOf(provider);
  const spec = provider.messages!.callbacks!;

  test(`${provider.key}: documented callbacks become events, and forged ones are refused`, async () => {
    const messaging = messagingWith(provider, amazonEgress());
    const connection = connectionOf(provider, contract);
    for (const recorded of notifications.callbacks) {
      const callback = signedCallback(spec, connection, recorded, amazon);
      const events = await messaging.receive(connection, callback);
      const expected = recorded.events.map((event) => ({
        ...{ machineGenerated: false, attributes: {} },
        ...event,
      }));
      const read = Array.isArray(events) ? events.map(({ occurredAtMs: _, ...event }) => event) : events;
      assert.deepEqual(read, expected, JSON.stringify(recorded.body));
    }
    const genuine = signedCallback(spec, connection, notifications.callbacks[0]!, amazon);
    const unsigned = { ...genuine, headers: { "content-type": "application/json" } };
    const other = { ...connection, credentials: {}, settings: {} };
    assert.equal(await messaging.receive(other, genuine), "refused", "without the secret nothing can be verified");
    if (spec.verify.kind === "aws_sns" || spec.verify.kind === "body_hmac") {
      const signature = spec.verify.kind === "aws_sns" ? "Signature" : "signature";
      const body = { ...(JSON.parse(genuine.rawBody.toString()) as JsonObject), [signature]: "AAAA" };
      const forged = { ...genuine, rawBody: Buffer.from(JSON.stringify(body)) };
      assert.equal(await messaging.receive(connection, forged), "refused");
    } else {
      assert.equal(await messaging.receive(connection, unsigned), "refused");
      if (spec.verify.kind === "token") return;
      const changed = { ...genuine, rawBody: Buffer.concat([genuine.rawBody, Buffer.from(" ")]) };
      assert.equal(await messaging.receive(connection, changed), "refused");
    }
    const late = messagingWith(provider, amazonEgress(), Date.UTC(2026, 0, 3));
    const isTimed = !("timestamp" in spec.verify) || spec.verify.timestamp !== undefined;
    if (isTimed) assert.equal(await late.receive(connection, genuine), "refused", "an old callback is a replay");
  });
}

test("ses: only the configured topic is accepted, and its subscription is confirmed", async () => {
  const provider = providers.find(({ key }) => key === "ses")!;
  const { contract } = contractOf(provider);
  const requested: string[] = [];
  const messaging = messagingWith(provider, amazonEgress(requested));
  const connection = connectionOf(provider, contract);
  const confirmation = {
    Type: "SubscriptionConfirmation",
    MessageId: "sns-0",
    Token: "token",
    TopicArn: String(connection.settings.sns_topic_arn),
    Timestamp: "2026-01-01T00:00:00.000Z",
    SignatureVersion: "2",
    Message: "You have chosen to subscribe to the topic",
    SubscribeURL: "https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=token",
  };
  const receive = (body: JsonObject) =>
    messaging.receive(connection, {
      method: "POST",
      headers: {},
      rawBody: Buffer.from(JSON.stringify(body)),
      url: "https://service.example.com/callbacks",
    });
  assert.deepEqual(await receive(signedBySns(confirmation, amazon)), []);
  assert.deepEqual(requested, [certificateUrl, confirmation.SubscribeURL]);

  const foreign = { ...confirmation, TopicArn: "arn:aws:sns:eu-central-1:999999999999:mine" };
  assert.equal(await receive(signedBySns(foreign, amazon)), "refused");
  const elsewhere = { ...signedBySns(confirmation, amazon), SigningCertURL: "https://evil.example.com/a.pem" };
  assert.equal(await receive(elsewhere), "refused");
  assert.equal(requested.length, 2, "nothing else is fetched");
});

/** The callback endpoint of SES, and what Amazon serves. */
function sesWith(served: { answer: () => { status: number; body: string } }) {
  const provider = providers.find(({ key }) => key === "ses")!;
  const { contract } = contractOf(provider);
  const egress: Egress = {
    async request() {
      const { status, body } = served.answer();
      return { status, headers: {}, body: Buffer.from(body) };
    },
    resolve: async () => assert.fail("nothing is resolved"),
  };
  const messaging = messagingWith(provider, { egress });
  const connection = connectionOf(provider, contract);
  return (type: string) => {
    const notification = {
      Type: type,
      MessageId: "sns-1",
      Token: "token",
      TopicArn: String(connection.settings.sns_topic_arn),
      Timestamp: "2026-01-01T00:00:00.000Z",
      SignatureVersion: "2",
      Message: "About the subscription",
      SubscribeURL: "https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=token",
    };
    return messaging.receive(connection, {
      method: "POST",
      headers: {},
      rawBody: Buffer.from(JSON.stringify(signedBySns(notification, amazon))),
      url: "https://service.example.com/callbacks",
    });
  };
}

test("ses: what is served instead of Amazon's certificate for a while is not kept", async () => {
  const served = { answer: () => ({ status: 200, body: "<html>Under maintenance</html>" }) };
  const receive = sesWith(served);
  assert.equal(await receive("UnsubscribeConfirmation"), "refused");
  served.answer = () => ({ status: 200, body: amazon.cert });
  assert.deepEqual(await receive("UnsubscribeConfirmation"), []);
});

test("ses: a notification is answered with an error that Amazon retries while Amazon itself cannot be reached", async () => {
  const unavailable = failsWith("UNAVAILABLE");
  const served = { answer: () => ({ status: 503, body: "" }) };
  const receive = sesWith(served);
  await assert.rejects(receive("UnsubscribeConfirmation"), unavailable);
  served.answer = () => {
    throw new EgressError("timeout", "as told", false);
  };
  await assert.rejects(receive("UnsubscribeConfirmation"), unavailable);
  served.answer = () => ({ status: 200, body: amazon.cert });
  assert.deepEqual(await receive("UnsubscribeConfirmation"), []);
  served.answer = () => ({ status: 503, body: "" });
  await assert.rejects(receive("SubscriptionConfirmation"), unavailable, "the subscription is not confirmed");
});

test("whatsapp: a check of the URL is answered only to whoever knows the secret", async () => {
  const provider = providers.find(({ key }) => key === "whatsapp")!;
  const { contract } = contractOf(provider);
  const messaging = messagingWith(provider, amazonEgress());
  const check = (token: string) => {
    const query = new URLSearchParams({
      "hub.mode": "subscribe",
      "hub.verify_token": token,
      "hub.challenge": "1158201444",
    });
    const callback = {
      method: "GET",
      headers: {},
      rawBody: Buffer.alloc(0),
      url: `https://service.example.com/?${query}`,
    } as const;
    return messaging.receive(connectionOf(provider, contract), callback);
  };
  const reply = { contentType: "text/plain; charset=utf-8", body: "1158201444" };
  assert.deepEqual(await check("meta-app-secret"), { reply });
  assert.equal(await check("guess"), "refused");
});

test("apns: requests carry a token that the service signs, and the next ones reuse it", async () => {
  const provider = providers.find(({ key }) => key === "apns")!;
  const { contract, notifications } = contractOf(provider);
  const mock = await startMock(provider);
  try {
    const messaging = messagingWith(provider, mock);
    for (const _ of [1, 2]) {
      await messaging.send(connectionOf(provider, contract), messageOf(notifications.sends[0]!), signal);
    }
    const [first, second] = mock.requests.map(({ headers }) => headers.authorization!.replace("Bearer ", ""));
    assert.equal(first, second);
    const { payload, protectedHeader } = await jwtVerify(first!, contractKeyPair.publicKey, {
      currentDate: new Date(contractMs),
    });
    assert.deepEqual([protectedHeader.alg, protectedHeader.kid, payload.iss], ["ES256", "ABC123DEFG", "DEF123GHIJ"]);
    assert.ok(contractMs / 1000 - payload.iat! <= 3600, "Apple refuses tokens older than an hour");
  } finally {
    await mock.close();
  }
});

test("a provider that wants no requests gets none until its limit ends", async () => {
  const provider = providers.find(({ key }) => key === "postmark")!;
  const { contract, notifications } = contractOf(provider);
  const mock = await startMock(provider);
  try {
    const messaging = messagingWith(provider, mock);
    const connection = connectionOf(provider, contract);
    const { status, headers, body } = contract.rate_limit;
    mock.fail("*", { kind: "answer", status, headers, body });
    const message = messageOf(notifications.sends[0]!);
    await messaging.send(connection, message, signal);
    const again = await messaging.send(connection, message, signal);
    assert.deepEqual(again.kind === "refused" && [again.failure, again.retryAfterMs], ["rate_limited", 10_000]);
    assert.equal(mock.requests.length, 1);
  } finally {
    await mock.close();
  }
});

test("a connection that is pinned to a version of the manifest sends as that version says", async (t) => {
  const provider = providers.find(({ key }) => key === "postmark")!;
  const { contract, notifications } = contractOf(provider);
  const [send] = notifications.sends;
  const mock = await startMock(provider);
  t.after(() => mock.close());
  const earlier = { ...provider, version: "0.0.1", messages: undefined };
  const messaging = messagingWith(provider, mock, contractMs, earlier);
  const outcome = await messaging.send(connectionOf(provider, contract), messageOf(send!), signal);
  assert.deepEqual([outcome.kind, mock.requests.length], ["unsendable", 0]);
});
