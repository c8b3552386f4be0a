import { createMarketplaceService, type InstallPlan, type Pack } from "@client/gen/marketplace";
import { useState } from "preact/hooks";
import { useQuery } from "../../core/query";
import { setQuery, withQuery } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { type Field, FormDialog } from "../../ui/form";
import { words } from "../../ui/format";
import { ChoiceFilter, currentTab, filterOf, Page, Ready, Tabs, TextFilter } from "../../ui/page";
import { Table } from "../../ui/table";
import { Chips, Facts, Notice, Status } from "../../ui/text";
import { toastError } from "../../ui/toast";
import { Installed } from "./installed";

const marketplace = createMarketplaceService(transport);
const tabs = { packs: "Packs", installed: "Installed" };
const pageSize = 100;

/** Marketplace: ready-made workflows, notifications and rules. */
export default function Marketplace() {
  return (
    <Page question="What can be installed, and what is?" title="Marketplace">
      <Tabs label="Parts of the marketplace" tabs={tabs} />
      {currentTab(tabs) === "packs" ? <Packs /> : <Installed />}
    </Page>
  );
}

function Packs() {
  const query = filterOf("q");
  const kind = filterOf("kind");
  const packs = useQuery(
    `packs ${query} ${kind}`,
    () =>
      marketplace.listPacks({ query, kind, per_page: pageSize } as Parameters<typeof marketplace.listPacks>[0]).page(),
    { live: ["marketplace."] },
  );
  const opened = packs.data?.items.find((pack) => packKey(pack) === filterOf("open"));
  return (
    <>
      <div class="filters">
        <TextFilter label="Search packs" name="q" />
        <ChoiceFilter choices={["connector", "workflow", "notification", "rules"]} label="Kind" name="kind" />
      </div>
      <Ready query={packs}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No pack matches">Change the search, or publish a pack of your own.</Empty>
          ) : (
            <Table
              columns={[
                { title: "Pack", value: ({ title, name }) => title || name },
                { title: "Publisher", width: "150px", value: ({ publisher }) => publisher },
                { title: "Kind", width: "120px", value: ({ kind: each }) => words(each) },
                { title: "Version", width: "90px", value: ({ version }) => version },
                { title: "Description", value: ({ description }) => description },
                {
                  title: "State",
                  width: "120px",
                  value: ({ installed_version }) => (installed_version ? "installed" : ""),
                  render: ({ installed_version }) => (installed_version ? <Status of="Installed" tone="ok" /> : null),
                },
              ]}
              hrefOf={(pack) => withQuery({ open: packKey(pack) })}
              keyOf={packKey}
              label="Packs"
              rows={items}
            />
          )
        }
      </Ready>
      {opened !== undefined && (
        <PackDrawer onClose={() => setQuery({ open: undefined })} pack={opened} refresh={packs.refresh} />
      )}
    </>
  );
}

const packKey = ({ publisher, name }: Pick<Pack, "publisher" | "name">) => `${publisher}/${name}`;

interface PackDrawerProps {
  readonly pack: Pack;
  readonly refresh: () => void;
  readonly onClose: () => void;
}

function PackDrawer({ pack, refresh, onClose }: PackDrawerProps) {
  const [isInstalling, install] = useState(false);
  const [plan, setPlan] = useState<InstallPlan>();
  const { publisher, name, version } = pack;
  const preview = () => marketplace.previewInstall({ publisher, name, version }).then(setPlan, toastError);
  const fields: Field[] = pack.slots.map((slot) => ({
    name: `slots.${slot.name}`,
    label: slot.title || slot.name,
    hint: slot.description,
    required: slot.required,
  }));
  return (
    <Dialog
      actions={
        <>
          <Button onClick={preview} small>
            Preview
          </Button>
          {can("marketplace:install") && pack.installed_version === "" && (
            <Button onClick={() => install(true)} small tone="primary">
              Install
            </Button>
          )}
        </>
      }
      kind="drawer"
      onClose={onClose}
      title={pack.title || pack.name}
    >
      <div class="dialog-body">
        <p class="soft">{pack.description}</p>
        {pack.yanked && <Notice tone="warn">This version was withdrawn by its publisher.</Notice>}
        <Facts
          of={{
            Publisher: publisher,
            Version: version,
            Installed: pack.installed_version,
            Tags: <Chips of={pack.tags} />,
            "May reach": <Chips none="no host" of={pack.permissions?.hosts ?? []} />,
            "Needs scopes": <Chips none="none" of={pack.permissions?.scopes ?? []} />,
            Requires: (
              <Chips none="nothing" of={pack.requires.map(({ pack: other, version: range }) => `${other} ${range}`)} />
            ),
          }}
        />
        {plan && <Plan plan={plan} />}
      </div>
      {isInstalling && (
        <FormDialog
          done="The pack was installed."
          fields={fields}
          initial={{
            slots: Object.fromEntries(pack.slots.map((slot) => [slot.name, slot.default_value || undefined])),
          }}
          onClose={() => install(false)}
          onSubmit={async (values) => {
            await marketplace.installPack({ ...values, publisher, name, version } as Parameters<
              typeof marketplace.installPack
            >[0]);
            refresh();
          }}
          submit="Install"
          title={`Install ${pack.title || name}`}
        >
          {() => <p class="soft">Its records are created in one transaction. They can be removed together again.</p>}
        </FormDialog>
      )}
    </Dialog>
  );
}

function Plan({ plan }: { readonly plan: InstallPlan }) {
  return (
    <>
      <h3>What an installation would do</h3>
      {plan.missing_slots.length > 0 && (
        <Notice tone="warn">It needs values for {plan.missing_slots.join(", ")}.</Notice>
      )}
      {plan.conflicts.map(({ key, reason }) => (
        <Notice key={key} tone="bad">
          {key}: {reason}
        </Notice>
      ))}
      <ol class="steps">
        {plan.changes.map(({ key, kind, action }) => (
          <li data-tone="info" key={`${kind} ${key}`}>
            <span>
              <strong>{words(action)}</strong> {words(kind).toLowerCase()} <code>{key}</code>
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}
