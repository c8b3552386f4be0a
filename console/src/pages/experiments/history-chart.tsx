import { createExperimentService } from "@client/gen/experiment";
import { useQuery } from "../../core/query";
import { transport } from "../../core/transport";
import { Card } from "../../ui/card";
import { Chart } from "../../ui/chart";
import { formatMoment, formatPercent } from "../../ui/format";

const experiments = createExperimentService(transport);
/** Early intervals are too wide to be drawn. */
const liftMax = 1.5;

/** How the lift and its interval developed. */
export function HistoryChart({ experimentId }: { readonly experimentId: string }) {
  const history = useQuery(
    `history of ${experimentId}`,
    () => experiments.getHistory({ experiment_id: experimentId }),
    {
      everyMs: 15_000,
    },
  );
  const points = history.data?.points ?? [];
  const keys = [
    ...new Set(
      points.flatMap(({ comparisons }) => comparisons.map(({ variant, metric }) => `${metric} of ${variant}`)),
    ),
  ].slice(0, 2);
  if (points.length < 2 || keys.length === 0) return null;
  const of = (key: string) =>
    points.map(({ comparisons }) => comparisons.find(({ variant, metric }) => `${metric} of ${variant}` === key));
  return (
    <Card title="Lift over time, with its interval">
      <Chart
        baseline={0}
        format={(value) => formatPercent(value, 0)}
        label="Lift of each metric over time"
        positions={points.map(({ at }) => formatMoment(at ?? "", { timeStyle: "medium" }))}
        series={keys.map((name) => ({
          name,
          values: of(name).map((each) => clamp(each?.lift)),
          band: of(name).map(
            (each) =>
              each?.lift_interval && ([clamp(each.lift_interval.lower)!, clamp(each.lift_interval.upper)!] as const),
          ),
        }))}
      />
    </Card>
  );
}

function clamp(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.max(-liftMax, Math.min(liftMax, value));
}
