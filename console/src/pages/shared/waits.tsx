import type { ExplanationWait } from "@client/gen/explain";
import { formatTime } from "../../ui/format";
import { Prose } from "../../ui/name";

/** What something waits for, and what would end each wait. */
export function Waits({ of: waits }: { readonly of: readonly ExplanationWait[] }) {
  return (
    <>
      {waits.map(({ code, message, remedy, until }) => (
        <div key={code}>
          <Prose text={`${message} ${remedy}`} /> {until && `Until ${formatTime(until)}.`}
        </div>
      ))}
    </>
  );
}
