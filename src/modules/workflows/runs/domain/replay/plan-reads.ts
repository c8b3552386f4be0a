import type { PlanStep, PlanWork } from "../engine/plan.ts";
import type { Template } from "../engine/template.ts";

/** The ids of the steps whose outputs the templates of a step read, without those of steps inside it. */
export function readsOf({ work, compensate }: Pick<PlanStep, "work" | "compensate">): readonly string[] {
  return [...templatesOf(work), ...(compensate === undefined ? [] : templatesOf(compensate.work))].flatMap(
    ({ reads }) => reads,
  );
}

function templatesOf(work: PlanWork): readonly Template[] {
  switch (work.kind) {
    case "task":
    case "route":
    case "notify":
    case "action":
    case "experiment":
    case "subworkflow":
    case "stream_append":
    case "stream_read":
    case "approval":
      return [work.request];
    case "branch":
      return work.arms.flatMap(({ when }) => when ?? []);
    case "parallel":
      return [];
    case "map":
      return [work.in];
    case "wait_event":
      return [...work.any.map(({ scope }) => scope), ...(work.update?.when === undefined ? [] : [work.update.when])];
    case "wait_timer":
      return [work.for, work.until].filter((template) => template !== undefined);
    case "transform":
      return [work.value];
    case "fail":
      return [work.message];
    case "continue_as_new":
      return [work.input];
  }
}
