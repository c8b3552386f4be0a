/**
 * The name of one execution of a step: its id, and its positions in the maps around it, as in `ocr[3]` or `page[3,0]`.
 * The key of a compensation starts with `~`.
 */
export type StepKey = string;

/** The positions of a step in the maps around it, the outermost first. */
export type Positions = readonly number[];

export function stepKey(id: string, positions: Positions): StepKey {
  return positions.length === 0 ? id : `${id}[${positions.join(",")}]`;
}

export function parseStepKey(key: StepKey): { readonly id: string; readonly positions: Positions } {
  const at = key.indexOf("[");
  if (at < 0) return { id: key, positions: [] };
  return {
    id: key.slice(0, at),
    positions: key
      .slice(at + 1, -1)
      .split(",")
      .map(Number),
  };
}
