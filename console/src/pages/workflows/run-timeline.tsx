import type { WorkflowRun } from "@client/gen/workflow-run";
import { Card } from "../../ui/card";
import { formatClock, formatSeconds } from "../../ui/format";
import { useStepStates } from "./step-states";

/** When each step ran, as bars on one axis. */
export function RunTimeline({ run }: { readonly run: WorkflowRun }) {
  const states = [...useStepStates(run)].filter(([, { startedAt }]) => startedAt !== undefined);
  const firstMs = Date.parse(run.started_at ?? run.created_at ?? "");
  const lastMs = run.ended_at ? Date.parse(run.ended_at) : Date.now();
  const spanMs = Math.max(1, lastMs - firstMs);
  return (
    <Card title={`${formatSeconds(spanMs / 1000)} from ${formatClock(run.started_at ?? run.created_at)}`}>
      <div class="timeline">
        {states.map(([step, { startedAt, endedAt, tone, attempts }]) => {
          const startMs = Date.parse(startedAt!);
          const endMs = endedAt ? Date.parse(endedAt) : lastMs;
          const left = ((startMs - firstMs) / spanMs) * 100;
          const width = Math.max(0.6, ((endMs - startMs) / spanMs) * 100);
          return (
            <div class="timeline-row" key={step}>
              <span class="timeline-name">{step}</span>
              <span class="timeline-track">
                <span
                  class="timeline-bar"
                  data-tone={tone}
                  style={{ left: `${Math.min(99, left)}%`, width: `${Math.min(100 - left, width)}%` }}
                />
              </span>
              <span class="timeline-time number">
                {formatSeconds((endMs - startMs) / 1000)}
                {attempts > 0 && ` · ${attempts + 1} attempts`}
              </span>
            </div>
          );
        })}
      </div>
    </Card>
  );
}
