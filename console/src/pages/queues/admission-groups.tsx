import { type AdmissionGroup, createAdmissionService } from "@client/gen/admission";
import { useList } from "../../core/query";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { formatCount, words } from "../../ui/format";
import { ChoiceFilter, filterOf, ListTable } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Id, Status } from "../../ui/text";

const admission = createAdmissionService(transport);
const kinds = ["singleton", "debounce", "throttle", "concurrency"];

const columns: readonly Column<AdmissionGroup>[] = [
  { title: "Constraint", width: "140px", value: ({ constraint_kind }) => words(constraint_kind) },
  { title: "Group", value: ({ group_id }) => group_id, render: ({ group_id }) => <Id id={group_id} /> },
  { title: "Status", width: "120px", value: ({ status }) => status, render: ({ status }) => <Status of={status} /> },
  { title: "In use", width: "90px", isNumber: true, value: ({ in_use }) => in_use },
  { title: "Limit", width: "90px", isNumber: true, value: ({ limit }) => limit },
  { title: "Waiting", width: "90px", isNumber: true, value: ({ waiting }) => waiting },
  { title: "Until", width: "120px", value: ({ until }) => until, render: ({ until }) => <Ago time={until} /> },
];

/** The groups whose limits hold items of a queue. */
export function AdmissionGroups({ poolId }: { readonly poolId: string }) {
  const constraint_kind = filterOf("kind");
  const list = useList(
    `groups ${poolId} ${constraint_kind}`,
    (page) =>
      admission.listGroups({ ...page, pool_id: poolId, constraint_kind } as Parameters<typeof admission.listGroups>[0]),
    { everyMs: 4_000 },
  );
  const clear = ({ pool_id, constraint_kind: kind, group_id, waiting }: AdmissionGroup) =>
    confirm({
      title: `Clear the group ${group_id}?`,
      consequence: `Its limit counts from zero, and ${formatCount(waiting)} waiting items may proceed at once. Use it when a limit is stuck.`,
      confirm: "Clear group",
      done: "The group was cleared.",
      act: () =>
        admission
          .clearGroup({ pool_id, constraint_kind: kind, group_id, reason: "cleared in the console" } as Parameters<
            typeof admission.clearGroup
          >[0])
          .then(list.refresh),
    });
  return (
    <>
      <div class="filters">
        <ChoiceFilter choices={kinds.map((each) => [each, words(each)])} label="Constraint" name="kind" />
      </div>
      <ListTable
        columns={columns}
        empty={
          <Empty title="No group">
            Groups appear here when the pool limits items by key: one at a time, debounced, throttled, or by
            concurrency.
          </Empty>
        }
        keyOf={({ constraint_kind: kind, group_id }) => `${kind} ${group_id}`}
        label="Admission groups"
        list={list}
        rowActions={
          can("queue:write")
            ? (group) => (
                <Button onClick={() => clear(group)} small tone="quiet">
                  Clear
                </Button>
              )
            : undefined
        }
        rowActionsWidth="90px"
      />
    </>
  );
}
