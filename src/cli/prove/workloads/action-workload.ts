import { setTimeout as delay } from "node:timers/promises";
import { isApiError } from "../../../../clients/typescript/src/index.ts";
import type { CreateWorkload } from "../workload.ts";

/** Performs writes at a provider that recognises no repeats: the receiver of the run. */
export const createActionWorkload: CreateWorkload = async (context) => {
  const { tenant, history, random, loading, receiver, call } = context;
  const { value: connection } = await call(
    (client, options) =>
      client.connections.create(
        {
          ...{ name: "receiver", provider_key: "http", auth_mode: "api_key", settings: { base_url: receiver.url } },
          credentials: { header: "authorization", value: "proof" },
        },
        options,
      ),
    "connection",
  );
  const performed = new Set<string>();
  const subjectOf = (action: string) => `${tenant.name}/${action}`;
  let actions = 0;

  return {
    async load() {
      while (!loading.aborted) {
        const action = `action-${++actions}`;
        const subject = subjectOf(action);
        const startMs = history.now();
        const input = { method: "POST", path: "actions", body: { subject } };
        const request = { key: "http.request.write", connection_id: connection.id, input, timeout_ms: 5000 };
        try {
          const { endMs, node } = await call(
            (client, options) => client.connectorActions.execute(request, options),
            action,
          );
          performed.add(subject);
          history.record({ kind: "acknowledged", name: "execute", subject, startMs, endMs, node, facts: {} });
        } catch (error) {
          if (!isApiError(error, "CONNECTOR_OUTCOME_UNKNOWN")) throw error;
          const facts = { error: error.code };
          history.record({ kind: "refused", name: "execute", subject, startMs, endMs: history.now(), facts });
        }
        await delay(random() * 60);
      }
    },
    async settle() {
      for (const { subject, atMs, number } of receiver.arrivals(`${tenant.name}/`)) {
        performed.delete(subject);
        history.record({
          ...{ kind: "observed", name: "arrival", subject, startMs: atMs, endMs: atMs, facts: { arrival: number } },
        });
      }
      const nowMs = history.now();
      for (const subject of performed) {
        history.record({
          ...{ kind: "observed", name: "arrival", subject, startMs: nowMs, endMs: nowMs, facts: { arrival: "absent" } },
        });
      }
    },
  };
};
