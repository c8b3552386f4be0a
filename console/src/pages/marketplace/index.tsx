import { createMarketplaceService, type Installation, type InstallPlan, type Pack } from "@client/gen/marketplace";
import { useState } from "preact/hooks";
import { useQuery } from "../../core/query";
import { setQuery, withQuery } from "../../core/router";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm, Dialog } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { type Field, FormDialog } from "../../ui/form";
import { words } from "../../ui/format";
import { ChoiceFilter, currentTab, filterOf, Page, Ready, Tabs, TextFilter } from "../../ui/page";
import { Table } from "../../ui/table";
import { Ago, Chips, Facts, Notice, Status } from "../../ui/text";
import { toastError } from "../../ui/toast";

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
        <ChoiceFilter choices={["connector", "workflow", "notification", "rules", "bundle"]} label="Kind" name="kind" />
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

function Installed() {
  const list = useQuery("installations", () => marketplace.listInstallations({ per_page: pageSize }).page(), {
    live: ["marketplace."],
  });
  const uninstall = ({ id, name }: Installation) =>
    confirm({
      title: `Uninstall ${name}?`,
      consequence: "All records that the pack created are deleted, unless somebody else uses them.",
      confirm: "Uninstall",
      typed: name,
      done: "The pack was uninstalled.",
      act: () => marketplace.uninstallPack({ id }).then(list.refresh),
    });
  const upgrade = ({ id, name, available_version, version }: Installation) =>
    confirm({
      title: `Upgrade ${name}?`,
      consequence: `From ${version} to ${available_version}. Changes that you made to its records are kept; a conflict is refused.`,
      confirm: "Upgrade",
      done: "The pack was upgraded.",
      act: () => marketplace.upgradePack({ id, version: available_version }).then(list.refresh),
    });
  return (
    <Ready query={list}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty
            samples={{
              curl: `curl -sS -X POST '$ORIGIN/api/v2/marketplace/installations' \\\n  -H "X-API-Key: $KEY" -H 'Content-Type: application/json' \\\n  -d '{"publisher": "switchyard", "name": "…"}'`,
              cli: "service pack install switchyard/…",
              sdk: `await client.marketplace.installPack({ publisher: "switchyard", name: "…" });`,
            }}
            title="Nothing is installed"
          >
            A pack brings workflows, notifications, rules or connectors that work together.
          </Empty>
        ) : (
          <Table
            columns={[
              { title: "Pack", value: ({ publisher, name }) => `${publisher}/${name}` },
              { title: "Version", width: "100px", value: ({ version }) => version },
              { title: "Available", width: "100px", value: ({ available_version }) => available_version },
              { title: "Records", width: "90px", isNumber: true, value: ({ records }) => records.length },
              {
                title: "Changed",
                width: "120px",
                value: ({ updated_at }) => updated_at,
                render: ({ updated_at }) => <Ago time={updated_at} />,
              },
            ]}
            keyOf={({ id }) => id}
            label="Installed packs"
            rowActions={
              can("marketplace:install")
                ? (installation) => (
                    <>
                      {installation.available_version !== "" && (
                        <Button onClick={() => upgrade(installation)} small tone="quiet">
                          Upgrade
                        </Button>
                      )}
                      <Button onClick={() => uninstall(installation)} small tone="quiet">
                        Uninstall
                      </Button>
                    </>
                  )
                : undefined
            }
            rowActionsWidth="190px"
            rows={items}
          />
        )
      }
    </Ready>
  );
}
