import type { GraphEdge, GraphNode } from "../../ui/graph";
import type { Tone } from "../../ui/text";

type Document = Readonly<Record<string, unknown>>;

const kinds = [
  "task",
  "route",
  "notify",
  "action",
  "experiment",
  "subworkflow",
  "branch",
  "parallel",
  "map",
  "wait_event",
  "wait_timer",
  "approval",
  "transform",
  "fail",
  "continue_as_new",
  "stream_append",
  "stream_read",
];

interface Drawn {
  readonly nodes: GraphNode[];
  readonly edges: GraphEdge[];
}

/** A step that the next steps follow, with the text of the arrow. */
interface Exit {
  readonly from: string;
  readonly label?: string;
}

/** Draws a definition: a box for each step, and an arrow to each step that can follow it. */
export function drawDefinition(
  document: Document | undefined,
  toneOf: (step: string) => Tone | undefined = () => undefined,
): Drawn {
  const drawn: Drawn = { nodes: [], edges: [] };
  drawSteps(listOf(document?.steps), [], drawn, toneOf);
  return drawn;
}

function kindOf(step: Document): string {
  return kinds.find((kind) => kind in step) ?? "step";
}

function drawSteps(
  steps: readonly Document[],
  entries: readonly Exit[],
  drawn: Drawn,
  toneOf: (step: string) => Tone | undefined,
): Exit[] {
  let exits: readonly Exit[] = entries;
  for (const step of steps) {
    const id = String(step.id);
    const kind = kindOf(step);
    drawn.nodes.push({ id, title: id, kind: titleOf(step, kind), tone: toneOf(id) });
    for (const { from, label } of exits) drawn.edges.push({ from, to: id, label });
    exits = exitsOf(step, id, kind, drawn, toneOf);
  }
  return [...exits];
}

/** The steps that the next step follows: the step itself, or the ends of its blocks. */
function exitsOf(
  step: Document,
  id: string,
  kind: string,
  drawn: Drawn,
  toneOf: (step: string) => Tone | undefined,
): Exit[] {
  const inner = blocksOf(step, kind).flatMap(({ label, steps }) =>
    drawSteps(steps, [{ from: id, label }], drawn, toneOf),
  );
  const caught = listOf(step.catch).flatMap((entry) =>
    drawSteps(
      listOf(entry.steps),
      [{ from: id, label: `on ${(entry.on as string[] | undefined)?.join(", ") ?? "error"}` }],
      drawn,
      toneOf,
    ),
  );
  const isOpen = inner.length === 0 || (kind === "branch" && !hasElse(step));
  return [...(isOpen && kind !== "fail" ? [{ from: id }] : []), ...inner, ...caught];
}

function blocksOf(step: Document, kind: string): { label?: string; steps: readonly Document[] }[] {
  const content = step[kind] as Document | undefined;
  switch (kind) {
    case "branch":
      return listOf(content).map((arm) =>
        "else" in arm
          ? { label: "else", steps: listOf(arm.else) }
          : { label: String(arm.when), steps: listOf(arm.steps) },
      );
    case "parallel":
      return Object.entries((content?.branches ?? {}) as Document).map(([label, steps]) => ({
        label,
        steps: listOf(steps),
      }));
    case "map":
      return [{ label: "each", steps: listOf(content?.steps) }];
    case "wait_event":
    case "approval":
      return "on_timeout" in (content ?? {}) ? [{ label: "time-out", steps: listOf(content?.on_timeout) }] : [];
    default:
      return [];
  }
}

function hasElse(step: Document): boolean {
  return listOf(step.branch).some((arm) => "else" in arm);
}

function titleOf(step: Document, kind: string): string {
  const content = step[kind] as Document | undefined;
  const detail =
    content?.type ?? content?.pool ?? content?.workflow_key ?? content?.action ?? content?.event ?? content?.key;
  const name = kind.replace("_", " ");
  return typeof detail === "string" ? `${name} · ${detail}` : name;
}

function listOf(value: unknown): readonly Document[] {
  return Array.isArray(value) ? (value as Document[]) : [];
}
