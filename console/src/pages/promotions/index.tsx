import { type Candidate, createPromotionService } from "@client/gen/promotion";
import { environmentFilter } from "../../core/environments";
import { useList } from "../../core/query";
import { href, useAddressedDialog } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Empty, samplesOf } from "../../ui/empty";
import { ListTable, Page } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Chips, Status } from "../../ui/text";
import { withEnvironment } from "../shared/environment";
import { CandidateForm } from "./candidate-form";
import { CandidatePage } from "./candidate-page";
import { stateOf } from "./candidate-state";

const promotions = createPromotionService(transport);

const columns: readonly Column<Candidate>[] = [
  { title: "Candidate", value: ({ name }) => name },
  {
    title: "Versions",
    value: ({ artifacts }) => artifacts.map(({ target_name }) => target_name).join(", "),
    render: ({ artifacts }) => <Chips of={artifacts.map(({ target_name, version }) => `${target_name} v${version}`)} />,
  },
  {
    title: "State",
    width: "190px",
    value: stateOf,
    render: (candidate) => <Status of={stateOf(candidate)} />,
  },
  {
    title: "Changed",
    width: "120px",
    value: ({ updated_at }) => updated_at,
    render: ({ updated_at }) => <Ago time={updated_at} />,
  },
];

/** Promotions: which change is on its way to production, and what is still missing? */
export default function Promotions({ path: [id] }: { readonly path: readonly string[] }) {
  return id === undefined ? <CandidateList /> : <CandidatePage id={id} key={id} />;
}

function CandidateList() {
  const [isCreating, create] = useAddressedDialog("new", can("promotion:write"));
  const filters = environmentFilter();
  const list = useList(
    `promotions ${filters.environment_id}`,
    (page) => promotions.listCandidates({ ...page, ...filters }),
    { live: ["promotion."] },
  );
  return (
    <Page
      actions={
        can("promotion:write") && (
          <Button icon="plus" onClick={() => create(true)} tone="primary">
            New candidate
          </Button>
        )
      }
      question="Which change is on its way, and what is still missing?"
      title="Promotions"
    >
      <ListTable
        columns={withEnvironment(columns)}
        empty={
          <Empty
            samples={samplesOf({
              path: "/api/promotions/candidates",
              body: { artifacts: [{ kind: "routing", ref: "support", version: 2 }] },
              cli: `promotion create --artifacts '[{"kind": "routing", "ref": "support", "version": 2}]'`,
              sdk: `promotions.createCandidate({ artifacts: [{ kind: "routing", ref: "support", version: 2 }] })`,
            })}
            title="No candidate"
          >
            A candidate takes exact versions of pools, workflows and connectors to production: with checks, a canary and
            the approval of a second person.
          </Empty>
        }
        hrefOf={({ id }) => href(`promotions/${id}`)}
        keyOf={({ id }) => id}
        label="Candidates"
        list={list}
      />
      {isCreating && <CandidateForm onClose={() => create(false)} />}
    </Page>
  );
}
