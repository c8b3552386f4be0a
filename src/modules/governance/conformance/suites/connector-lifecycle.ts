import { randomUUID } from "node:crypto";
import type { SuiteSource } from "../sandbox/index.ts";
import {
  changeConfig,
  connectionOf,
  createConfig,
  createConnection,
  createProvider,
  execute,
  openSession,
  requestSession,
  showConnection,
  subscribe,
} from "./steps/connector-steps.ts";
import { createTwice } from "./steps/repeat-steps.ts";

/** Cases about the life of connectors: provider configs, connections, sessions and actions. No request leaves the instance. */
export const connectorLifecycleSuite: SuiteSource = {
  id: "connector-lifecycle",
  name: "Connector lifecycle",
  description: "Which connectors can be used when, and what they never reveal or reach.",
  version: 3,
  defaults: { capabilities: ["connectors", "connections"], dryRun: false },
  cases: {
    "connector.draft-not-callable": {
      guarantee: "End users cannot connect through a provider config that is a draft.",
      async run(context) {
        const provider = await createProvider(context);
        const config = await createConfig(context, provider);
        const wanted = { allowed_provider_keys: [provider], provider_config_id: config };
        const draft = await requestSession(context, wanted);
        context.expect("a session with the draft", draft.code, "FAILED_PRECONDITION");
        await changeConfig(context, config, "activate");
        context.expect("a session after the activation", (await requestSession(context, wanted)).status, 200);
      },
    },
    "connector.activate-disable-archive": {
      guarantee: "A provider config is activated, disabled and archived in this order, and an archived one stays so.",
      async run(context) {
        const config = await createConfig(context, await createProvider(context));
        const change = (verb: string) => changeConfig(context, config, verb);
        const statusAfter = async (verb: string) => (await change(verb)).body?.data?.status ?? "";
        context.expect("status after activate", await statusAfter("activate"), "active");
        context.expect("archive while it is active", (await change("archive")).code, "FAILED_PRECONDITION");
        context.expect("status after disable", await statusAfter("disable"), "disabled");
        context.expect("status after archive", await statusAfter("archive"), "archived");
        context.expect("activate after archive", (await change("activate")).code, "FAILED_PRECONDITION");
      },
    },
    "connector.catalog-only-refused": {
      guarantee: "An action that is only described in the catalogue is not executed.",
      async run(context) {
        const provider = await createProvider(context);
        const connection = await createConnection(context, provider, "conformance");
        const action = await context.data("GET", `/api/v2/connector/actions/${provider}.thing.scan`);
        context.expect("runtime status", action.runtime_status, "catalog_only");
        const { code } = await execute(context, `${provider}.thing.scan`, { connection_id: connection });
        context.expect("execution", code, "ACTION_NOT_EXECUTABLE");
      },
    },
    "connector.secret-never-echoed": {
      guarantee: "The credentials of a connection appear in no response and no event.",
      async run(context) {
        const provider = await createProvider(context);
        const secret = `planted-${randomUUID()}`;
        const connection = await createConnection(context, provider, secret);
        const shown = await showConnection(context, connection);
        context.expect("the connection is shown", shown.includes(connection), true);
        context.expect("a record or event reveals it", shown.includes(secret), false);
        const dry = await execute(context, `${provider}.thing.get`, { connection_id: connection, dry_run: true });
        context.expect("status of a dry execution", dry.status, 200);
        context.expect("a dry execution reveals it", dry.text.includes(secret), false);
      },
    },
    "connector.session-single-use": {
      guarantee: "The link of a connect session opens once, in one browser.",
      async run(context) {
        const provider = await createProvider(context);
        const { body } = await requestSession(context, { allowed_provider_keys: [provider] });
        const opened = await Promise.all([1, 2, 3].map(() => openSession(context, body?.data ?? {})));
        context.expect("browsers that got in", opened.filter(Boolean).length, 1);
      },
    },
    "connector.egress-guarded": {
      guarantee: "An action cannot reach the metadata service of the machine.",
      offBy: (config) => (config["egress.mode"] === "disabled" ? "egress.mode" : undefined),
      async run(context) {
        const provider = await createProvider(context);
        const connection = await createConnection(context, provider, "conformance");
        const refused = await execute(context, `${provider}.thing.get`, { connection_id: connection });
        context.expect("execution", refused.code, "CONNECTOR_FAILED");
        const record = await context.data("GET", `/api/v2/connector/executions/${refused.body?.execution_id}`);
        context.expect("why there was no answer", record.code ?? "", "denied");
      },
    },
    "connector.repeated-create": {
      guarantee: "A connection that is created again with its idempotency key is the same connection.",
      async run(context) {
        const connection = connectionOf(context, await createProvider(context), "conformance");
        const other = { name: context.name("other") };
        await createTwice(context, "/api/v2/connector/connections", connection, other, (data) => data?.id);
      },
    },
    "connector.revoked-unusable": {
      guarantee: "A revoked connection cannot be used any more.",
      async run(context) {
        const provider = await createProvider(context);
        const connection = await createConnection(context, provider, "conformance");
        const executeDry = () =>
          execute(context, `${provider}.thing.get`, { connection_id: connection, dry_run: true });
        context.expect("status before", (await executeDry()).status, 200);
        await context.send("POST", `/api/v2/connector/connections/${connection}/revoke`, { body: {} });
        context.expect("execution", (await executeDry()).code, "CONNECTION_UNUSABLE");
      },
    },
    "connector.signed-delivery": {
      guarantee: "A webhook of a provider counts if its signature is right, and once, however often it is sent.",
      capabilities: ["connectors", "connections", "connector_triggers"],
      async run(context) {
        const provider = await createProvider(context);
        const connection = await createConnection(context, provider, "conformance");
        const { id, deliver, deliverForged } = await subscribe(context, provider, connection);
        context.expect("status of a forged delivery", (await deliverForged()).status, 401);
        context.expect("status of a delivery", (await deliver()).status, 204);
        context.expect("status of its repeat", (await deliver()).status, 204);
        const events = await context.data("GET", `/api/v2/connector/trigger-events?subscription_id=${id}`);
        context.expect("events", events.length, 1);
      },
    },
  },
};
