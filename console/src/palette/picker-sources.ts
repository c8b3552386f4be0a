import { createConnectionService } from "@client/gen/connection";
import { createRecipientService } from "@client/gen/recipient";
import { createWorkflowRunService } from "@client/gen/workflow-run";
import { environmentFilter } from "../core/environments";
import { unlistedTransport as transport } from "../core/transport";
import type { PickerSource } from "../ui/form/picker";
import { formatTime } from "../ui/format";
import { createKindSearch } from "./name-search";
import { type NamedKind, type NamedRecord, namedKind, namedKinds } from "./named-kinds";

const shownMax = 50;

/** What is chosen from records of a kind: their ids, or the keys by which requests name them. */
function pickFrom(kind: string, records: NamedKind, toValue: (record: NamedRecord) => string): PickerSource {
  return {
    kind,
    open() {
      const find = createKindSearch(records);
      return async (text) => {
        const { records: found, incomplete } = await find(text);
        return {
          choices: found.slice(0, shownMax).map((record) => ({ value: toValue(record), label: record.title })),
          isIncomplete: found.length > shownMax || incomplete.length > 0,
        };
      };
    },
  };
}

const idOf = ({ id }: NamedRecord) => id;
const keyOf = ({ key }: NamedRecord) => key;
const known = (name: string) => namedKinds.find(({ kind }) => kind === name)!;

export const pickPool = pickFrom("pool", known("Pool"), idOf);
export const pickSubscriber = pickFrom("subscriber", known("Subscriber"), idOf);
export const pickTopicKey = pickFrom("topic", known("Topic"), keyOf);
export const pickExperimentKey = pickFrom("experiment", known("Experiment"), keyOf);

/** The newest runs, by their workflow and their key. Runs without a key are told apart by their start. */
export const pickRun = pickFrom(
  "workflow_run",
  namedKind({
    scope: "workflow_run:read",
    kind: "Run",
    plural: "runs",
    icon: "workflows",
    list: (page) => createWorkflowRunService(transport).list({ ...page, ...environmentFilter() }),
    lookUps: [(text) => createWorkflowRunService(transport).list({ run_key: text, limit: shownMax })],
    namesOf: ({ definition_key, run_key, created_at }) => [`${definition_key} · ${run_key || formatTime(created_at)}`],
    pathOf: ({ id }) => `workflows/runs/${id}`,
  }),
  idOf,
);

/** The recipients of a pool. */
export const pickRecipient = (poolId: string) =>
  pickFrom(
    "recipient",
    namedKind({
      scope: "recipient:read",
      kind: "Recipient",
      plural: "recipients",
      icon: "pools",
      list: (page) => createRecipientService(transport).list({ ...page, pool_id: poolId }),
      namesOf: ({ name }) => [name],
      pathOf: () => `pools/${poolId}`,
      queryOf: () => ({ tab: "recipients" }),
    }),
    idOf,
  );

/** The connections of a provider. */
export const pickConnection = (providerKey: string) =>
  pickFrom(
    "connection",
    namedKind({
      scope: "connection:read",
      kind: "Connection",
      plural: "connections",
      icon: "connectors",
      list: (page) => createConnectionService(transport).list({ ...page, provider_key: providerKey, status: "active" }),
      namesOf: ({ name, account }) => [name, account?.label ?? ""],
      pathOf: () => "connectors",
      queryOf: () => ({ tab: "connections" }),
    }),
    idOf,
  );
