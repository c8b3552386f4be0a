// npm run bench -- routing [--seconds 5] [--rounds 3] [--only accept|drain|decide|admission|backlog] [--quick]
//   [--without <participant>]
// Our service, popular job queues and the physical limits, side by side on one machine and one PostgreSQL.
import { runSections } from "../section-runner.mjs";
import { readOptions } from "./options.mjs";
import { accept, printAccept } from "./sections/accept.mjs";
import { admission, printAdmission } from "./sections/admission.mjs";
import { backlog, printBacklog } from "./sections/backlog.mjs";
import { decide, printDecide } from "./sections/decide.mjs";
import { drain, printDrain } from "./sections/drain.mjs";
import { openStage } from "./stage.mjs";

const sections = {
  accept: [accept, printAccept],
  drain: [drain, printDrain],
  decide: [decide, printDecide],
  admission: [admission, printAdmission],
  backlog: [backlog, printBacklog],
};

export function bench() {
  return runSections(sections, readOptions(process.argv.slice(3), Object.keys(sections)), openStage);
}
