import { createEventService } from "@client/gen/event";
import { createWorkflowStreamService } from "@client/gen/workflow-stream";
import { useState } from "preact/hooks";
import { environmentFilter } from "../../core/environments";
import { useQuery } from "../../core/query";
import { href, navigate, useAddressedDialog, withQuery } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { pickRun } from "../../palette/picker-sources";
import { Button } from "../../ui/button";
import { Card, Stat } from "../../ui/card";
import { confirm } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { FormDialog } from "../../ui/form";
import { formatSeconds } from "../../ui/format";
import { nameColumn } from "../../ui/name";
import { filterOf, Page, Ready } from "../../ui/page";
import { Table } from "../../ui/table";
import { Ago, Chips, Facts, Id, Notice, Status } from "../../ui/text";
import { Records } from "./records";

const streams = createWorkflowStreamService(transport);
const events = createEventService(transport);

/** Streams: the records that runs exchange, as they arrive. */
export default function Streams({ path: [runId, streamId] }: { readonly path: readonly string[] }) {
  if (runId !== undefined && streamId !== undefined)
    return <StreamPage key={`${runId} ${streamId}`} runId={runId} streamId={streamId} />;
  return <StreamFinder />;
}

const samples = {
  curl: `curl -sS -X POST '$ORIGIN/api/workflow-streams/runs/$RUN_ID/streams' \\\n  -H "X-API-Key: $SWITCHYARD_KEY" -H 'Content-Type: application/json' \\\n  -d '{"name": "ledger"}'`,
  cli: "service stream create $RUN_ID --name ledger",
  sdk: `await client.workflowStreams.create({ run_id: runId, name: "ledger" });`,
};

/** A stream of a run, and when something was last appended to it. */
interface RecentStream {
  readonly runId: string;
  readonly name: string;
  readonly time: string | undefined;
}

/** The newest streams, from the event log. */
function useRecentStreams(): readonly RecentStream[] {
  const recent = useQuery(
    can("event:read") ? `recent streams ${environmentFilter().environment_id}` : undefined,
    () => events.list({ types: ["workflow.stream.*"], limit: 100, ...environmentFilter() }).page(),
    { live: ["workflow.stream"] },
  );
  const seen = new Map<string, RecentStream>();
  for (const { subject, data, time } of recent.data?.items ?? []) {
    const { run_id, name, stream_id } = (data ?? {}) as Record<string, string>;
    const runId = run_id ?? subject;
    const stream = name ?? stream_id;
    if (runId && stream && !seen.has(`${runId} ${stream}`))
      seen.set(`${runId} ${stream}`, { runId, name: stream, time });
  }
  return [...seen.values()];
}

/** The records of the newest stream as they arrive, the other streams to choose from, and any stream by its run and name. */
function StreamFinder() {
  const [isOpening, open] = useAddressedDialog("open", true);
  const recent = useRecentStreams();
  const chosen = filterOf("open");
  const shown = recent.find(({ runId, name }) => `${runId} ${name}` === chosen) ?? recent[0];
  return (
    <Page
      actions={<Button onClick={() => open(true)}>Open a stream</Button>}
      question="Which records do runs exchange?"
      title="Streams"
    >
      {shown === undefined ? (
        <Empty samples={samples} title="Streams belong to runs">
          A stream is an ordered list of records that a workflow run and others exchange while it is in progress.
        </Empty>
      ) : (
        <div class="columns wide-first">
          <Card
            actions={
              <a class="link" href={href(`streams/${shown.runId}/${shown.name}`)}>
                Open
              </a>
            }
            flush
            title={`Records of ${shown.name}, newest first`}
          >
            <Records key={`${shown.runId} ${shown.name}`} runId={shown.runId} streamId={shown.name} />
          </Card>
          <Card flush title="Recent streams">
            <Table
              columns={[
                { title: "Stream", value: ({ name }) => name },
                nameColumn({ title: "Run", kind: "workflow_run", id: ({ runId }: { runId: string }) => runId }),
                { title: "When", width: "100px", value: ({ time }) => time, render: ({ time }) => <Ago time={time} /> },
              ]}
              hrefOf={({ runId, name }) => withQuery({ open: `${runId} ${name}` })}
              keyOf={({ runId, name }) => `${runId} ${name}`}
              label="Recent streams"
              rows={recent}
            />
          </Card>
        </div>
      )}
      {isOpening && (
        <FormDialog
          fields={[
            { name: "run", label: "Run", required: true, from: pickRun },
            { name: "stream", label: "Stream", required: true, hint: "Its name in the run, or its id." },
          ]}
          onClose={() => open(false)}
          onSubmit={async ({ run, stream }) => navigate(href(`streams/${run}/${stream}`))}
          submit="Open"
          title="Open a stream"
        />
      )}
    </Page>
  );
}

function StreamPage({ runId, streamId }: { readonly runId: string; readonly streamId: string }) {
  const id = { run_id: runId, stream_id: streamId };
  const stream = useQuery(`stream ${runId} ${streamId}`, () => streams.get(id), { everyMs: 4_000 });
  return (
    <Page
      actions={stream.data && <StreamActions id={id} refresh={stream.refresh} status={stream.data.status} />}
      badge={<Status of={stream.data?.status} tone={stream.data?.status === "open" ? "ok" : "muted"} />}
      crumbs={[{ title: "Streams", path: "streams" }]}
      question={
        <>
          Which records does the run exchange?{" "}
          <a class="link" href={href(`workflows/runs/${runId}`)}>
            Open the run
          </a>
        </>
      }
      title={stream.data?.name ?? "Stream"}
    >
      <Ready query={stream}>
        {(data) => (
          <>
            {data.hold && <Notice tone="warn">A legal hold keeps the records: {data.hold.reason}</Notice>}
            <div class="stats">
              <Stat label="Records" value={Number(data.items)} />
              <Stat label="Bytes" value={Number(data.bytes)} />
              <Stat label="Latest" value={Number(data.latest_sequence)} />
              <Stat label="Unread" value={Number(data.unread_items)} />
            </div>
            <Records runId={runId} streamId={streamId} />
            <Card title="Pins">
              <Facts
                of={{
                  Home: data.pins?.metadata_home,
                  "Kept for": data.pins?.retention
                    ? formatSeconds(data.pins.retention.max_age_s)
                    : "as long as the run",
                  Classes: <Chips of={data.pins?.content_classes ?? []} />,
                  Redacted: (
                    <Chips
                      none="nothing"
                      of={(data.pins?.redaction ?? []).map(({ path, action }) => `${path}: ${action}`)}
                    />
                  ),
                  "When unread is full": data.pins?.on_unread_full,
                  Id: <Id id={data.id} />,
                }}
              />
            </Card>
          </>
        )}
      </Ready>
    </Page>
  );
}

interface StreamActionProps {
  readonly id: { readonly run_id: string; readonly stream_id: string };
  readonly status: string;
  readonly refresh: () => void;
}

function StreamActions({ id, status, refresh }: StreamActionProps) {
  const [isAppending, append] = useState(false);
  if (!can("workflow_stream:write") || status !== "open") return null;
  const close = () =>
    confirm({
      title: "Close this stream?",
      consequence: "Nothing can be appended any more. What is in it stays readable.",
      confirm: "Close stream",
      done: "The stream is closed.",
      act: () => streams.close(id).then(refresh),
    });
  return (
    <>
      <Button icon="plus" onClick={() => append(true)}>
        Append
      </Button>
      <Button onClick={close} tone="danger-text">
        Close stream
      </Button>
      {isAppending && (
        <FormDialog
          done="The record was appended."
          fields={[
            { name: "payload", label: "Payload", kind: "json", required: true },
            {
              name: "direction",
              label: "Direction",
              kind: "choice",
              required: true,
              choices: ["input", "output"],
              hint: "An input record also wakes the run.",
            },
          ]}
          onClose={() => append(false)}
          onSubmit={async (values) => {
            await streams.appendRecord({ ...values, ...id } as Parameters<typeof streams.appendRecord>[0]);
            refresh();
          }}
          submit="Append"
          title="Append a record"
        />
      )}
    </>
  );
}
