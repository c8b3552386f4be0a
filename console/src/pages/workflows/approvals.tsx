import { createWorkflowApprovalService, type WorkflowApproval } from "@client/gen/workflow-approval";
import { useState } from "preact/hooks";
import { environmentFilter } from "../../core/environments";
import { useList } from "../../core/query";
import { href } from "../../core/router";
import { can, session } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Card, Loading } from "../../ui/card";
import { Empty } from "../../ui/empty";
import { FormDialog } from "../../ui/form";
import { messageOf } from "../../ui/format";
import { JsonView } from "../../ui/json-view";
import { Name } from "../../ui/name";
import { ChoiceFilter, filterOf, NoRows, TextFilter } from "../../ui/page";
import { Ago, Chips, Facts, Notice } from "../../ui/text";

const approvals = createWorkflowApprovalService(transport);

/** Approvals that wait for a person's decision. */
export function Approvals() {
  const mine = filterOf("for") === "me";
  const [decided, decide] = useState<{ approval: WorkflowApproval; approved: boolean }>();
  const filters = { mine, definition: filterOf("workflow"), ...environmentFilter() };
  const list = useList(`approvals ${JSON.stringify(filters)}`, (page) => approvals.list({ ...page, ...filters }), {
    everyMs: 4_000,
    live: ["workflow."],
  });
  if (list.error !== undefined) return <Notice tone="bad">{messageOf(list.error)}</Notice>;
  return (
    <>
      <div class="filters">
        <ChoiceFilter choices={[["me", "Those that I may decide"]]} label="For" name="for" />
        <TextFilter label="Workflow" name="workflow" />
      </div>
      {list.isLoading && <Loading />}
      {!list.isLoading && list.rows.length === 0 && (
        <NoRows
          empty={
            <Empty title="Nothing waits for a decision">
              Runs with an approval step wait here until enough people have decided.
            </Empty>
          }
        />
      )}
      <div class="columns">
        {list.rows.slice(0, 60).map((approval) => (
          <ApprovalCard approval={approval} decide={(approved) => decide({ approval, approved })} key={approval.id} />
        ))}
      </div>
      {decided !== undefined && (
        <FormDialog
          done={decided.approved ? "You approved it." : "You rejected it."}
          fields={[{ name: "comment", label: "Comment", kind: "long", required: decided.approval.comment_required }]}
          onClose={() => decide(undefined)}
          onSubmit={async ({ comment }) => {
            const { run_id, step } = decided.approval;
            await approvals.decide({
              run_id,
              step,
              approved: decided.approved,
              comment: comment as string | undefined,
            });
            list.refresh();
          }}
          submit={decided.approved ? "Approve" : "Reject"}
          title={`${decided.approved ? "Approve" : "Reject"}: ${decided.approval.title || decided.approval.step}`}
        >
          {() => (
            <p class="soft">
              {decided.approved
                ? `The run continues when ${decided.approval.quorum} of the approvers agree.`
                : "The step fails, and with it the run, unless the workflow handles the rejection."}
            </p>
          )}
        </FormDialog>
      )}
    </>
  );
}

/** Whether the caller is among those who may decide. */
function mayDecide({ by }: WorkflowApproval): boolean {
  const { subject, roles } = session.value!;
  return by.includes(`user:${subject}`) || roles.some((role) => by.includes(`role:${role}`));
}

function ApprovalCard({
  approval,
  decide,
}: {
  readonly approval: WorkflowApproval;
  readonly decide: (approved: boolean) => void;
}) {
  return (
    <Card
      actions={
        can("workflow_run:approve") &&
        mayDecide(approval) && (
          <>
            <Button onClick={() => decide(false)} small>
              Reject
            </Button>
            <Button onClick={() => decide(true)} small tone="primary">
              Approve
            </Button>
          </>
        )
      }
      title={approval.title || `${approval.definition_key}: ${approval.step}`}
    >
      <div class="stack">
        <Facts
          of={{
            Workflow: (
              <a class="link" href={href(`workflows/definitions/${approval.definition_id}`)}>
                {approval.definition_key}
              </a>
            ),
            Run: <Name id={approval.run_id} kind="workflow_run" />,
            "Who may decide": <Chips of={approval.by} />,
            Decisions: `${approval.decisions.length} of ${approval.quorum}`,
            Since: <Ago time={approval.opened_at} />,
            Due: approval.due_at && <Ago time={approval.due_at} />,
          }}
        />
        {approval.details !== undefined && <JsonView label="Details" value={approval.details} />}
      </div>
    </Card>
  );
}
