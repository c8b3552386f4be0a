import { createEventService } from "@client/gen/event";
import { createWorkflowStreamService, type WorkflowStreamRecord } from "@client/gen/workflow-stream";
import { useEffect, useState } from "preact/hooks";
import { useQuery } from "../../core/query";
import { href, navigate } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Card, Stat } from "../../ui/card";
import { confirm } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { Form, FormDialog } from "../../ui/form";
import { formatClock, formatSeconds, messageOf } from "../../ui/format";
import { Page, Ready } from "../../ui/page";
import { type Column, Table } from "../../ui/table";
import { Ago, Chips, Facts, Id, Notice, Status } from "../../ui/text";

const streams = createWorkflowStreamService(transport);
const events = createEventService(transport);
const readMax = 500;

/** Streams: the records that runs exchange, as they arrive. */
export default function Streams({ path: [runId, streamId] }: { readonly path: readonly string[] }) {
  if (runId !== undefined && streamId !== undefined)
    return <StreamPage key={`${runId} ${streamId}`} runId={runId} streamId={streamId} />;
  return <StreamFinder />;
}

const samples = {
  curl: `curl -sS -X POST '$ORIGIN/api/workflow-streams/runs/$RUN_ID/streams' \\\n  -H "X-API-Key: $KEY" -H 'Content-Type: application/json' \\\n  -d '{"name": "ledger"}'`,
  cli: "service stream create $RUN_ID --name ledger",
  sdk: `await client.workflowStreams.create({ run_id: runId, name: "ledger" });`,
};

/** Finds a stream: the newest ones from the event log, or any by its run and name. */
function StreamFinder() {
  const recent = useQuery(
    can("event:read") ? "recent streams" : undefined,
    () => events.list({ types: ["workflow.stream.*"], limit: 100 }).page(),
    { live: ["workflow.stream"] },
  );
  const seen = new Map<string, { runId: string; name: string; time: string | undefined }>();
  for (const { subject, data, time } of recent.data?.items ?? []) {
    const { run_id, name, stream_id } = (data ?? {}) as Record<string, string>;
    const runId = run_id ?? subject;
    const stream = name ?? stream_id;
    if (runId && stream && !seen.has(`${runId} ${stream}`))
      seen.set(`${runId} ${stream}`, { runId, name: stream, time });
  }
  return (
    <Page question="Which records does a run exchange?" title="Streams">
      <div class="columns">
        <Card flush title="Open a stream">
          <Form
            fields={[
              { name: "run", label: "Run id", required: true },
              { name: "stream", label: "Stream", required: true, hint: "Its name in the run, or its id." },
            ]}
            onSubmit={async ({ run, stream }) => navigate(href(`streams/${run}/${stream}`))}
            submit="Open"
          />
        </Card>
        {seen.size > 0 && (
          <Card flush title="Recent streams">
            <Table
              columns={[
                { title: "Stream", value: ({ name }) => name },
                { title: "Run", width: "140px", value: ({ runId }) => runId, render: ({ runId }) => <Id id={runId} /> },
                { title: "When", width: "110px", value: ({ time }) => time, render: ({ time }) => <Ago time={time} /> },
              ]}
              hrefOf={({ runId, name }) => href(`streams/${runId}/${name}`)}
              keyOf={({ runId, name }) => `${runId} ${name}`}
              label="Recent streams"
              rows={[...seen.values()]}
            />
          </Card>
        )}
      </div>
      {seen.size === 0 && (
        <Empty samples={samples} title="Streams belong to runs">
          A stream is an ordered list of records that a workflow run and others exchange while it is in progress.
        </Empty>
      )}
    </Page>
  );
}

const columns: readonly Column<WorkflowStreamRecord>[] = [
  { title: "#", width: "80px", isNumber: true, value: ({ sequence }) => Number(sequence) },
  {
    title: "Time",
    width: "130px",
    value: ({ appended_at }) => appended_at,
    render: ({ appended_at }) => <span class="mono">{formatClock(appended_at)}</span>,
  },
  { title: "Direction", width: "100px", value: ({ direction }) => direction },
  { title: "Class", width: "120px", value: ({ content_class }) => content_class },
  {
    title: "Payload",
    value: ({ payload, object }) => JSON.stringify(payload ?? object ?? null).slice(0, 300),
    render: ({ payload, object }) => <code>{JSON.stringify(payload ?? object ?? null).slice(0, 300)}</code>,
  },
];

function StreamPage({ runId, streamId }: { readonly runId: string; readonly streamId: string }) {
  const id = { run_id: runId, stream_id: streamId };
  const stream = useQuery(`stream ${runId} ${streamId}`, () => streams.get(id), { everyMs: 4_000 });
  const { records, error } = useRecords(runId, streamId);
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
            {error !== undefined && <Notice tone="bad">{error}</Notice>}
            {records.length > 0 && (
              <Table columns={columns} keyOf={({ sequence }) => String(sequence)} label="Records" rows={records} />
            )}
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
                  Id: <Id id={data.id} whole />,
                }}
              />
            </Card>
          </>
        )}
      </Ready>
    </Page>
  );
}

/** Reads the stored records, then follows the stream. */
function useRecords(runId: string, streamId: string) {
  const [records, setRecords] = useState<readonly WorkflowStreamRecord[]>([]);
  const [error, setError] = useState<string>();
  useEffect(() => {
    const stopping = new AbortController();
    const follow = async () => {
      const id = { run_id: runId, stream_id: streamId };
      const first = await streams.readRecords({ ...id, limit: readMax });
      setRecords(first.records);
      if (first.closed) return;
      for await (const record of streams.subscribe({ ...id, cursor: first.next_cursor }, { signal: stopping.signal })) {
        setRecords((before) => [...before, record]);
      }
    };
    follow().catch((failure) => {
      if (!stopping.signal.aborted) setError(messageOf(failure));
    });
    return () => stopping.abort();
  }, [runId, streamId]);
  return { records, error };
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
