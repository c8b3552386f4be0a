import { createDeadLetterService } from "@client/gen/dead-letter";
import { createWorkflowDeadLetterService } from "@client/gen/workflow-dead-letter";
import { useState } from "preact/hooks";
import { environmentFilter, environmentName } from "../../core/environments";
import { href, navigate } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { formatCount } from "../../ui/format";
import { filterOf } from "../../ui/page";
import { announce } from "../../ui/toast";
import { BulkDialog } from "../shared/bulk-dialog";
import { usePoolNames } from "../shared/pool-filter";
import { deadLetterChange } from "./dead-letter-change";
import { type Letter, type LetterKind, quarantineLetters, retryLetters } from "./letters";

const itemLetters = createDeadLetterService(transport);
const runLetters = createWorkflowDeadLetterService(transport);

const writeScopes: Readonly<Record<LetterKind, string>> = {
  item: "dlq:write",
  run: "workflow_dlq:write",
  message: "notification:admin",
};

interface Props {
  readonly selected: readonly Letter[];
  readonly kind: LetterKind | undefined;
  readonly poolId: string | undefined;
  /** The number of failed items of the pool. */
  readonly depth: number;
  readonly refresh: () => void;
}

/** What can be done with the selected letters, and with all of a pool or of the workflows. */
export function LetterActions({ selected, kind, poolId, depth, refresh }: Props) {
  if (!Object.values(writeScopes).some(can)) return null;
  const isAllowed = selected.length > 0 && selected.every((letter) => can(writeScopes[letter.kind]));
  const canQuarantine = isAllowed && selected.every((letter) => letter.kind !== "message");
  return (
    <div class="actions">
      <Button
        disabled={!isAllowed}
        onClick={() => announce(retryLetters(selected), "The dead letters are tried again.", refresh)}
        tone="primary"
      >
        Retry {selected.length > 0 ? selected.length : "selected"}
      </Button>
      <Button
        disabled={!canQuarantine}
        onClick={() => announce(quarantineLetters(selected, false), "They are quarantined.", refresh)}
      >
        Quarantine
      </Button>
      <Button
        disabled={!canQuarantine}
        onClick={() => announce(quarantineLetters(selected, true), "They were released.", refresh)}
      >
        Release
      </Button>
      <span class="spacer" />
      {kind === "run" && can("workflow_dlq:write") && <Button onClick={() => replayAll(refresh)}>Replay all</Button>}
      {poolId !== undefined && can("dlq:write") && <PoolActions depth={depth} poolId={poolId} refresh={refresh} />}
    </div>
  );
}

function replayAll(refresh: () => void): void {
  const error_code = filterOf("code");
  const { environment_id } = environmentFilter();
  const which = [
    error_code && ` with the code ${error_code}`,
    environment_id && ` in ${environmentName(environment_id)}`,
  ];
  confirm({
    title: "Replay all failed runs?",
    consequence: `A new run continues each failed one${which.filter(Boolean).join("")}, from the step that failed.`,
    confirm: "Replay all",
    done: "The runs were replayed.",
    act: () => runLetters.replayAll({ error_code, environment_id, reason: "replayed in the console" }).then(refresh),
  });
}

interface PoolProps extends Pick<Props, "depth" | "refresh"> {
  readonly poolId: string;
}

function PoolActions({ poolId, depth, refresh }: PoolProps) {
  const [isRetryingMany, retryMany] = useState(false);
  const name = usePoolNames().get(poolId) ?? "the pool";
  const retryAll = () =>
    confirm({
      title: `Retry all dead letters of ${name}?`,
      consequence: `${formatCount(depth)} items return to the queue with new attempts. Those that are quarantined or out of retries stay.`,
      confirm: "Retry all",
      done: "The dead letters were put back on the queue.",
      act: () => itemLetters.retryAll({ pool_id: poolId }).then(refresh),
    });
  const purge = () =>
    confirm({
      title: `Purge the dead letters of ${name}?`,
      consequence: `${formatCount(depth)} items are deleted permanently, with their payloads. Quarantined ones stay.`,
      confirm: "Purge",
      typed: name,
      done: "The dead letters were deleted.",
      act: () => itemLetters.purge({ pool_id: poolId, older_than: new Date().toISOString() }).then(refresh),
    });
  return (
    <>
      <Button disabled={depth === 0} onClick={() => retryMany(true)}>
        Retry by filter
      </Button>
      <Button disabled={depth === 0} onClick={retryAll}>
        Retry all
      </Button>
      {can("dlq:delete") && (
        <Button disabled={depth === 0} onClick={purge} tone="danger-text">
          Purge
        </Button>
      )}
      {isRetryingMany && (
        <BulkDialog
          change={deadLetterChange(poolId, name)}
          onClose={() => retryMany(false)}
          onStarted={({ id }) => navigate(href(`queues/${poolId}`, { tab: "bulk", operation: id }))}
        />
      )}
    </>
  );
}
