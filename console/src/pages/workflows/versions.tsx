import {
  createWorkflowDefinitionService,
  type DiffWorkflowDefinitionResponse,
  type WorkflowDefinition,
} from "@client/gen/workflow-definition";
import { useList, useQuery } from "../../core/query";
import { setQuery } from "../../core/router";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { Empty } from "../../ui/empty";
import { words } from "../../ui/format";
import { nameColumn } from "../../ui/name";
import { filterOf, ListTable, Ready } from "../../ui/page";
import { Ago, Id, Status, type Tone } from "../../ui/text";

const definitions = createWorkflowDefinitionService(transport);

/** The published versions, and what changed between two of them. */
export function Versions({ definition }: { readonly definition: WorkflowDefinition }) {
  const list = useList(`versions ${definition.id} ${definition.active_version}`, (page) =>
    definitions.listVersions({ ...page, id: definition.id }),
  );
  const from = filterOf("from");
  const to = filterOf("to");
  return (
    <div class="stack">
      <ListTable
        columns={[
          { title: "Version", width: "90px", isNumber: true, value: ({ version }) => version },
          {
            title: "Status",
            width: "130px",
            value: ({ status }) => status,
            render: ({ status }) => <Status of={status} />,
          },
          { title: "Message", value: ({ message }) => message },
          nameColumn({ title: "By", id: ({ published_by }: { published_by: string }) => published_by }),
          {
            title: "Digest",
            width: "140px",
            value: ({ digest }) => digest,
            render: ({ digest }) => <Id id={digest} />,
          },
          {
            title: "Published",
            width: "120px",
            value: ({ published_at }) => published_at,
            render: ({ published_at }) => <Ago time={published_at} />,
          },
        ]}
        empty={<Empty title="No version">Publish the draft to create the first version. Versions never change.</Empty>}
        keyOf={({ version }) => String(version)}
        label="Versions"
        list={list}
        rowActions={({ version }) =>
          version > 1 ? (
            <Button onClick={() => setQuery({ from: String(version - 1), to: String(version) })} small tone="quiet">
              Compare with {version - 1}
            </Button>
          ) : null
        }
        rowActionsWidth="150px"
      />
      {from !== undefined && to !== undefined && <Difference from={from} id={definition.id} to={to} />}
    </div>
  );
}

const tones: Readonly<Record<string, Tone>> = { added: "ok", removed: "bad", changed: "warn" };

function Difference({ id, from, to }: { readonly id: string; readonly from: string; readonly to: string }) {
  const diff = useQuery(`diff ${id} ${from} ${to}`, () => definitions.diff({ id, from, to }));
  return (
    <Card title={`From version ${from} to version ${to}`}>
      <Ready query={diff}>
        {(data) => (data.equal ? <p class="soft">They are equal.</p> : <Changes diff={data} />)}
      </Ready>
    </Card>
  );
}

function Changes({ diff: { fields, steps } }: { readonly diff: DiffWorkflowDefinitionResponse }) {
  return (
    <div class="stack">
      {fields.map(({ path, before, after }) => (
        <ValueChange after={after} before={before} key={path} path={path} />
      ))}
      <ol class="steps">
        {steps.map(({ id, change, moved, values }) => (
          <li data-tone={tones[change] ?? "info"} key={id}>
            <span>
              <strong>{id}</strong> <Status of={words(change)} tone={tones[change]} />{" "}
              {moved && <Status of="moved" tone="info" />}
            </span>
            <span />
            <div class="detail">
              {values.map(({ path, before, after }) => (
                <ValueChange after={after} before={before} key={path} path={path} />
              ))}
            </div>
          </li>
        ))}
      </ol>
    </div>
  );
}

function ValueChange({ path, before, after }: { path: string; before: string | undefined; after: string | undefined }) {
  return (
    <div>
      <code>{path}</code>{" "}
      {before !== undefined && (
        <del>
          <code>{before}</code>
        </del>
      )}{" "}
      {after !== undefined && (
        <ins>
          <code>{after}</code>
        </ins>
      )}
    </div>
  );
}
