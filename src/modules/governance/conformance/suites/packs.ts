import {
  createStatementKey,
  digestOfStatement,
  readPrivateKey,
  signStatement,
} from "../../../../platform/crypto/index.ts";
import type { CaseContext, CaseSource, Json } from "../sandbox/index.ts";
import { createPool } from "./steps/pool-steps.ts";

const marketplace = { capabilities: ["marketplace", "workflows"] };
const packs = "/api/v2/marketplace/packs";
const installations = "/api/v2/marketplace/installations";
const evidence = { capabilities: ["rollout_evidence", "environments"] };
const evidenceBase = "/api/rollout-evidence";

/** Registers a publisher, and returns what signs its packs of workflows with these steps. */
async function createPublisher(context: CaseContext) {
  const publisher = context.name().replaceAll("_", "-");
  const { privateKeyPem, key } = createStatementKey();
  const { privateKey } = readPrivateKey(privateKeyPem);
  await context.data("POST", "/api/v2/marketplace/publisher-keys", { publisher, public_key: key.publicKey });
  return (version: string, stepsByKey: Readonly<Record<string, object>>, effects: readonly string[] = []) => {
    const contents = Object.entries(stepsByKey).map(([name, step]) => ({
      record: "workflow_definition",
      key: name,
      content: { dsl: "1", key: context.name(name), timeout: "1h", steps: [{ id: "only", ...step }] },
    }));
    const document = {
      ...{ pack: 1, publisher, name: "conformance", kind: "workflow", version, title: "Conformance" },
      ...{ permissions: { effects }, contents },
    };
    const signature = signStatement("application/vnd.switchyard.pack.v1+json", document, privateKey);
    return { ...document, digest: digestOfStatement(document), signature, key_id: key.id };
  };
}

const install = (context: CaseContext, { publisher, name, version }: Json) =>
  context.send("POST", installations, { body: { publisher, name, version } });

const readDefinition = (context: CaseContext, name: string) =>
  context.send("GET", `/api/workflow-definitions/${context.name(name)}`);

/** Creates an evidence pack with one artifact, and returns how to report checks of it and how to read its gate. */
async function createEvidence(context: CaseContext) {
  const environments = await context.data("GET", "/api/v2/environments");
  const { id: environment_id } = environments.find(({ mode }: Json) => mode === "MODE_SANDBOX");
  const { id } = await context.data("POST", `${evidenceBase}/packs`, { environment_id, name: context.name() });
  const path = `${evidenceBase}/packs/${environment_id}/${id}`;
  const artifact = { kind: "routing", name: "conformance", version: "1", sha256: digestOfStatement("conformance") };
  await context.data("POST", `${path}/artifacts`, { artifact });
  return {
    report: (result: string): Promise<Json> =>
      context.data("POST", `${path}/receipts`, { type: "scenario", result, subjects: [artifact] }),
    gate: async (): Promise<string> => (await context.data("POST", `${path}/gate:evaluate`, {})).state,
  };
}

/** Cases about packs of the marketplace and packs of evidence. */
export const packCases: Readonly<Record<string, CaseSource>> = {
  "access.pack-signed": {
    guarantee: "A pack that was changed after its publisher signed it is refused.",
    ...marketplace,
    async run(context) {
      const sign = await createPublisher(context);
      const signed = sign("1.0.0", { flow: { transform: { text: "signed" } } });
      const changed = { ...sign("1.0.0", { flow: { transform: { text: "changed" } } }), signature: signed.signature };
      const publish = (pack: object) => context.send("POST", packs, { body: { pack } });
      context.expect("the changed pack", (await publish(changed)).code, "PACK_UNTRUSTED");
      context.expect("status of the signed pack", (await publish(signed)).status, 200);
    },
  },
  "access.pack-atomic": {
    guarantee: "The installation of a pack creates all of its records, or none.",
    capabilities: [...marketplace.capabilities, "pools"],
    async run(context) {
      const sign = await createPublisher(context);
      const pool = context.name("pool");
      const pack = sign("1.0.0", { first: { transform: {} }, second: { route: { pool } } }, ["workflow:route"]);
      await context.data("POST", packs, { pack });
      context.expect("a second record that cannot be created", (await install(context, pack)).status < 300, false);
      context.expect("status of the first record", (await readDefinition(context, "first")).status, 404);
      await createPool(context, {}, "pool");
      context.expect("status of the installation", (await install(context, pack)).status, 200);
      for (const name of ["first", "second"])
        context.expect(`status of the ${name} record`, (await readDefinition(context, name)).status, 200);
    },
  },
  "access.pack-rollback": {
    guarantee: "The rollback of an upgrade restores the records of a pack as they were.",
    ...marketplace,
    async run(context) {
      const sign = await createPublisher(context);
      const readRecord = async () => JSON.stringify((await readDefinition(context, "flow")).body?.data);
      const first = sign("1.0.0", { flow: { transform: { text: "first" } } });
      for (const pack of [first, sign("1.1.0", { flow: { transform: { text: "second" } } })])
        await context.data("POST", packs, { pack });
      const { id } = (await install(context, first)).body?.data ?? {};
      const before = await readRecord();
      await context.data("POST", `${installations}/${id}/upgrade`, {});
      context.expect("the upgrade changes the record", (await readRecord()) === before, false);
      await context.send("POST", `${installations}/${id}/rollback`, { body: {} });
      context.expect("the rollback restores it", (await readRecord()) === before, true);
    },
  },
  "access.evidence-verifiable": {
    guarantee: "Anybody can verify a receipt of evidence, and a changed one is found.",
    ...evidence,
    async run(context) {
      const { envelope } = await (await createEvidence(context)).report("failed");
      const verify = async (given: object) =>
        (await context.send("POST", `${evidenceBase}/receipts:verify`, { as: "nobody", body: { envelope: given } }))
          .body?.data?.valid ?? false;
      context.expect("the receipt is valid", await verify(envelope), true);
      const statement = Buffer.from(envelope.payload, "base64").toString().replace('"failed"', '"passed"');
      const payload = Buffer.from(statement).toString("base64");
      context.expect("a changed receipt is valid", await verify({ ...envelope, payload }), false);
    },
  },
  "access.evidence-gate": {
    guarantee:
      "The gate of an evidence pack is open after a check that passed, and closed after a later one that failed.",
    ...evidence,
    async run(context) {
      const { report, gate } = await createEvidence(context);
      context.expect("without a check", await gate(), "closed");
      await report("passed");
      context.expect("after a check that passed", await gate(), "open");
      await report("failed");
      context.expect("after a later one that failed", await gate(), "closed");
    },
  },
};
