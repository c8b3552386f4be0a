import { createWorkflowStreamService, type WorkflowStreamRecord } from "@client/gen/workflow-stream";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isPaused } from "../../core/live";
import { transport } from "../../core/transport";
import { formatClock, messageOf } from "../../ui/format";
import { type Column, Table } from "../../ui/table";
import { Notice } from "../../ui/text";

const streams = createWorkflowStreamService(transport);
const readMax = 500;
/** Older records are dropped from the view, not from the stream. */
const shownMax = 10_000;

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

/** The records of a stream, newest first, as they arrive. */
export function Records({ runId, streamId }: { readonly runId: string; readonly streamId: string }) {
  const { records, error } = useRecords(runId, streamId);
  const rows = useMemo(() => records.toReversed(), [records]);
  const held = useRef(rows);
  if (!isPaused.value) held.current = rows;
  if (error !== undefined) return <Notice tone="bad">{error}</Notice>;
  return <Table columns={columns} keyOf={({ sequence }) => String(sequence)} label="Records" rows={held.current} />;
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
        setRecords((before) => [...before, record].slice(-shownMax));
      }
    };
    follow().catch((failure) => {
      if (!stopping.signal.aborted) setError(messageOf(failure));
    });
    return () => stopping.abort();
  }, [runId, streamId]);
  return { records, error };
}
