import type { Tone } from "../text";
import { layOut } from "./graph-layout";

/** A box of a graph. */
export interface GraphNode {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly tone?: Tone;
}

/** An arrow between two boxes. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly label?: string;
}

interface Props {
  readonly label: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

const box = { width: 190, height: 46, gapX: 28, gapY: 42 };
const margin = 6;

/** A directed graph, from top to bottom. A list with the same content is there for people who cannot see it. */
export function Graph({ label, nodes, edges }: Props) {
  const { places, columns, rows } = layOut(nodes, edges);
  const width = columns * (box.width + box.gapX) - box.gapX + margin * 2;
  const height = rows * (box.height + box.gapY) - box.gapY + margin * 2;
  const left = (id: string) => margin + places.get(id)!.column * (box.width + box.gapX);
  const top = (id: string) => margin + places.get(id)!.row * (box.height + box.gapY);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: A region that scrolls must be reachable with the keyboard.
    <section aria-label={label} class="graph" tabIndex={0}>
      <svg aria-hidden="true" height={height} width={width}>
        {edges
          .filter(({ from, to }) => places.has(from) && places.has(to))
          .map(({ from, to, label: text }) => {
            const x1 = left(from) + box.width / 2;
            const y1 = top(from) + box.height;
            const x2 = left(to) + box.width / 2;
            const y2 = top(to);
            const bend = Math.max(18, Math.abs(y2 - y1) / 2);
            return (
              <g key={`${from} ${to} ${text}`}>
                <path class="edge" d={`M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2 - 5}`} />
                <path class="arrow" d={`M${x2 - 4} ${y2 - 7}h8l-4 7z`} />
                {text !== undefined && (
                  <text class="label" text-anchor="middle" x={(x1 + x2) / 2} y={(y1 + y2) / 2 + 3}>
                    {shorten(text, 22)}
                  </text>
                )}
              </g>
            );
          })}
        {nodes.map(({ id, title, kind, tone }) => (
          <g class="node" data-tone={tone} key={id} transform={`translate(${left(id)} ${top(id)})`}>
            <rect height={box.height} rx="8" width={box.width} />
            <text x="12" y="20">
              {shorten(title, 24)}
            </text>
            <text class="kind" x="12" y="36">
              {shorten(kind, 28)}
            </text>
          </g>
        ))}
      </svg>
      <ul class="visually-hidden">
        {nodes.map(({ id, title, kind, tone }) => (
          <li key={id}>
            {title} ({kind}
            {tone === undefined ? "" : `, ${tone}`})
            {edges.some(({ from }) => from === id) &&
              `, then ${edges
                .filter(({ from }) => from === id)
                .map(({ to }) => nodes.find((node) => node.id === to)?.title ?? to)
                .join(", ")}`}
          </li>
        ))}
      </ul>
    </section>
  );
}

function shorten(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
