import { type ConnectorExecution, createConnectorActionService } from "@client/gen/connector-action";
import { useList, useQuery } from "../../core/query";
import { setQuery, withQuery } from "../../core/router";
import { transport } from "../../core/transport";
import { Dialog } from "../../ui/dialog";
import { Empty, samplesOf } from "../../ui/empty";
import { formatSeconds, formatTime, words } from "../../ui/format";
import { JsonView } from "../../ui/json-view";
import { Name, Prose } from "../../ui/name";
import { ChoiceFilter, filterOf, ListTable, Ready, TextFilter } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Facts, Id, Notice, Status } from "../../ui/text";

const executor = createConnectorActionService(transport);
const statuses = ["running", "succeeded", "failed", "outcome_unknown"];

const columns: readonly Column<ConnectorExecution>[] = [
  { title: "Action", value: ({ action_key }) => action_key },
  { title: "Status", width: "140px", value: ({ status }) => status, render: ({ status }) => <Status of={status} /> },
  { title: "Answer", value: ({ class: kind, message }) => `${words(kind)} ${message}` },
  { title: "Attempts", width: "94px", isNumber: true, value: ({ attempts }) => attempts.length },
  { title: "From", width: "120px", value: ({ origin }) => words(origin) },
  {
    title: "When",
    width: "110px",
    value: ({ started_at }) => started_at,
    render: ({ started_at }) => <Ago time={started_at} />,
  },
];

/** Actions executed in other systems. */
export function Executions() {
  const filters = { status: filterOf("status"), provider_key: filterOf("provider") };
  const list = useList(
    `executions ${JSON.stringify(filters)}`,
    (page) => executor.listExecutions({ ...page, ...filters } as Parameters<typeof executor.listExecutions>[0]),
    { everyMs: 4_000, live: ["connector."] },
  );
  const opened = filterOf("open");
  return (
    <>
      <div class="filters">
        <ChoiceFilter choices={statuses.map((each) => [each, words(each)])} label="Status" name="status" />
        <TextFilter label="Provider" name="provider" />
      </div>
      <ListTable
        columns={columns}
        empty={
          <Empty
            samples={samplesOf({
              path: "/api/v2/connector/actions/github.issue.create:execute",
              body: { connection_id: "…", input: { owner: "acme", repo: "shop", title: "Hello" } },
              cli: `connector-action execute github.issue.create --connection-id … --input '{"owner": "acme", "repo": "shop", "title": "Hello"}'`,
              sdk: `connectorActions.execute({ key: "github.issue.create", connection_id: "…", input: { owner: "acme", repo: "shop", title: "Hello" } })`,
            })}
            title="No execution"
          >
            Actions of connected systems appear here with every attempt and the answer of the provider.
          </Empty>
        }
        hrefOf={({ id }) => withQuery({ open: id })}
        keyOf={({ id }) => id}
        label="Executions"
        list={list}
      />
      {opened !== undefined && <ExecutionDrawer id={opened} onClose={() => setQuery({ open: undefined })} />}
    </>
  );
}

function ExecutionDrawer({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const execution = useQuery(`execution ${id}`, () => executor.getExecution({ execution_id: id }), { everyMs: 3_000 });
  const explanation = useQuery(`execution explained ${id}`, () => executor.explainExecution({ execution_id: id }));
  return (
    <Dialog kind="drawer" onClose={onClose} title={execution.data?.action_key ?? "Execution"}>
      <div class="dialog-body">
        {explanation.data && (
          <Notice tone={execution.data?.status === "succeeded" ? "ok" : "warn"}>
            <strong>
              <Prose text={explanation.data.summary} />
            </strong>{" "}
            <Prose text={`${explanation.data.effect} ${explanation.data.remedies.join(" ")}`} />
          </Notice>
        )}
        <Ready query={execution}>
          {(data) => (
            <>
              <Facts
                of={{
                  Status: <Status of={data.status} />,
                  Answer: words(data.class),
                  Request: data.request && (
                    <code>{`${data.request.method} ${data.request.host}${data.request.path}`}</code>
                  ),
                  Connection: data.connection_id && <Name id={data.connection_id} kind="connection" />,
                  Started: formatTime(data.started_at),
                  Ended: data.ended_at && formatTime(data.ended_at),
                  Id: <Id id={data.id} />,
                }}
              />
              <h3>Attempts</h3>
              <ol class="steps">
                {data.attempts.map((attempt) => (
                  <li
                    data-tone={attempt.http_status >= 200 && attempt.http_status < 300 ? "ok" : "bad"}
                    key={attempt.number}
                  >
                    <span>
                      <strong>HTTP {attempt.http_status || "–"}</strong>{" "}
                      <span class="soft">{words(attempt.class)}</span>
                    </span>
                    <span class="when">{formatSeconds(attempt.duration_ms / 1000)}</span>
                  </li>
                ))}
              </ol>
              <h3>Output</h3>
              <JsonView label="Output" value={data.output ?? null} />
            </>
          )}
        </Ready>
      </div>
    </Dialog>
  );
}
