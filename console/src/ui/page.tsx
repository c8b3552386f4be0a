import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { isPaused, liveState } from "../core/live";
import type { ListQuery, Query } from "../core/query";
import { href, query, setQuery, withQuery } from "../core/router";
import { forgetRequests, sentRequests, toCurl } from "../core/transport";
import { Button } from "./button";
import { Loading } from "./card";
import { Dialog } from "./dialog";
import { Empty } from "./empty";
import { Failure } from "./failure";
import { Picker, type PickerSource } from "./form/picker";
import { messageOf, words } from "./format";
import { type Column, Table } from "./table";
import { Code, Notice } from "./text";

/** A page above the current one. */
export interface Crumb {
  readonly title: string;
  readonly path: string;
  readonly tab?: string;
}

interface PageProps {
  readonly title: string;
  /** The question that the page answers. */
  readonly question?: ComponentChildren;
  readonly crumbs?: readonly Crumb[];
  /** Beside the title, such as a status. */
  readonly badge?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The frame of every page: its title, its actions, whether it is live, and its requests as curl commands. */
export function Page({ title, question, crumbs = [], badge, actions, children }: PageProps) {
  const [isShown, show] = useState(false);
  useEffect(() => {
    document.title = `${title} · Switchyard`;
  }, [title]);
  useEffect(
    () => () => {
      forgetRequests();
      isPaused.value = false;
    },
    [],
  );
  return (
    <div class="page">
      <header class="page-head">
        <div class="title">
          {crumbs.length > 0 && (
            <nav aria-label="Path" class="crumbs">
              {crumbs.map((crumb) => [
                <a href={href(crumb.path, { tab: crumb.tab })} key={crumb.title}>
                  {crumb.title}
                </a>,
                <span aria-hidden="true" key={`${crumb.title} end`}>
                  /
                </span>,
              ])}
              <span aria-current="page">{title}</span>
            </nav>
          )}
          <h1>
            <span class="lines" title={title}>
              {title}
            </span>{" "}
            {badge}
          </h1>
          {question !== undefined && <p>{question}</p>}
        </div>
        <div class="actions">
          <LiveButton />
          <Button icon="terminal" onClick={() => show(true)} tone="quiet">
            Copy as curl
          </Button>
          {actions}
        </div>
      </header>
      {children}
      {isShown && <CurlDialog onClose={() => show(false)} />}
    </div>
  );
}

/** Says whether the page follows what happens, and lets somebody who reads it hold it still. */
function LiveButton() {
  const state = isPaused.value ? "paused" : liveState.value;
  return (
    <button
      class="live"
      data-state={state}
      onClick={() => {
        isPaused.value = !isPaused.value;
      }}
      title={isPaused.value ? "Show what has changed, and follow it" : "Hold the page still"}
      type="button"
    >
      {words(state)}
    </button>
  );
}

function CurlDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title="This page as curl" wide>
      <div class="dialog-body">
        <p class="soft">
          The console uses the public API. These are the requests of this page, newest first. Set <code>KEY</code> to an
          API key.
        </p>
        {sentRequests.value.map((request) => (
          <Code key={`${request.method} ${request.target} ${request.body}`} text={toCurl(request)} />
        ))}
      </div>
    </Dialog>
  );
}

/** Links between the parts of a page. The part is in the address. */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: Readonly<Record<string, string>> }) {
  const current = query.value.get("tab") ?? Object.keys(tabs)[0];
  const element = useRef<HTMLElement>(null);
  // On a narrow screen the links scroll, and the current one may be out of sight.
  useEffect(() => {
    const { offsetLeft = 0, offsetWidth = 0 } = element.current!.querySelector<HTMLElement>("[aria-current]") ?? {};
    element.current!.scrollLeft = offsetLeft + offsetWidth / 2 - element.current!.clientWidth / 2;
  }, [current]);
  return (
    <nav aria-label={label} class="tabs" ref={element}>
      {Object.entries(tabs).map(([key, title], index) => (
        <a
          aria-current={key === current ? "page" : undefined}
          href={withQuery({ tab: index === 0 ? undefined : key, open: undefined, sort: undefined, status: undefined })}
          key={key}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}

/** The chosen tab. */
export function currentTab<Key extends string>(tabs: Readonly<Record<Key, string>>): Key {
  const wanted = query.value.get("tab") as Key | null;
  return wanted !== null && wanted in tabs ? wanted : (Object.keys(tabs)[0] as Key);
}

interface FilterProps {
  readonly name: string;
  readonly label: string;
  /** What is shown without a choice. */
  readonly none?: string;
}

/** A choice that is part of the address. */
export function ChoiceFilter({
  name,
  label,
  none = "all",
  choices,
}: FilterProps & { readonly choices: readonly (string | readonly [value: string, text: string])[] }) {
  const value = query.value.get(name) ?? "";
  return (
    <select
      aria-label={label}
      class="select"
      onChange={(event) => setQuery({ [name]: event.currentTarget.value })}
      value={value}
    >
      <option value="">
        {label}: {none}
      </option>
      {choices.map((choice) => {
        const [key, text] = typeof choice === "string" ? [choice, choice] : choice;
        return (
          <option key={key} selected={key === value} value={key}>
            {text}
          </option>
        );
      })}
    </select>
  );
}

/** A text that is part of the address. */
export function TextFilter({ name, label }: FilterProps) {
  return (
    <input
      aria-label={label}
      class="input"
      onInput={(event) => setQuery({ [name]: event.currentTarget.value })}
      placeholder={label}
      type="search"
      value={query.value.get(name) ?? ""}
    />
  );
}

/** A record that is part of the address, chosen by its name. */
export function PickerFilter({ name, label, from }: FilterProps & { readonly from: PickerSource }) {
  return (
    <Picker
      attributes={{ "aria-label": label }}
      empty={`${label}: all`}
      from={from}
      set={(value) => setQuery({ [name]: value })}
      value={query.value.get(name) ?? ""}
    />
  );
}

/** The value of a filter; undefined if it is not set. */
export function filterOf(name: string): string | undefined {
  return query.value.get(name) || undefined;
}

/** Shows a record when it is there, and why not otherwise. */
export function Ready<Data>({
  query: { data, error, refresh },
  children,
}: {
  query: Query<Data>;
  children: (data: Data) => ComponentChildren;
}) {
  if (data !== undefined) {
    return (
      <>
        {error !== undefined && <Notice tone="warn">This is not the newest state: {messageOf(error)}</Notice>}
        {children(data)}
      </>
    );
  }
  if (error !== undefined) return <Failure error={error} onRetry={refresh} title="This could not be read." />;
  return <Loading />;
}

/** Says that more may be found: the service looks through a long list in parts. */
export function SearchOn({ list: { more, rows } }: { readonly list: Pick<ListQuery<unknown>, "more" | "rows"> }) {
  const [isBusy, setBusy] = useState(false);
  const search = async () => {
    setBusy(true);
    await more();
    setBusy(false);
  };
  return (
    <Notice tone="info">
      {rows.length === 0 ? "None of the newest records match. " : ""}Older records have not been searched.{" "}
      <Button disabled={isBusy} onClick={search} small>
        {isBusy ? "Searching…" : "Search on"}
      </Button>
    </Notice>
  );
}

/** What an address has besides filters. */
const notFilters = new Set("environment tab open do sort range period at from to operation".split(" "));

function setFilters(): readonly string[] {
  return [...query.value].flatMap(([name, value]) => (value === "" || notFilters.has(name) ? [] : name));
}

/** Shown instead of an empty list that is filtered, with the way back to the whole list. */
function NothingMatches() {
  const cleared = Object.fromEntries(setFilters().map((name) => [name, undefined]));
  return (
    <Empty
      action={
        <a class="button" href={withQuery(cleared)}>
          Remove the filters
        </a>
      }
      title="Nothing matches"
    >
      The list is filtered, and no row matches.
    </Empty>
  );
}

/** Shown instead of a list without rows: how to get some, or that filters hide them. */
export function NoRows({ empty }: { readonly empty: ComponentChildren }) {
  return setFilters().length === 0 ? empty : <NothingMatches />;
}

interface ListTableProps<Row> {
  readonly label: string;
  readonly list: ListQuery<Row>;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly hrefOf?: (row: Row) => string;
  readonly empty: ComponentChildren;
  readonly selection?: Parameters<typeof Table>[0]["selection"];
  readonly rowActions?: (row: Row) => ComponentChildren;
  readonly rowActionsWidth?: string;
}

/** A list as a table. Without rows, it shows how to get some. */
export function ListTable<Row>({ list, empty, ...table }: ListTableProps<Row>) {
  if (list.rows.length === 0) {
    if (list.error !== undefined) {
      return <Failure error={list.error} onRetry={list.refresh} title="The list could not be read." />;
    }
    if (list.isLoading) return <Loading lines={6} />;
    if (list.hasMore) return <SearchOn list={list} />;
    return <NoRows empty={empty} />;
  }
  return (
    <>
      <Table {...table} hasMore={list.hasMore && !list.isPart} onMore={list.more} rows={list.rows} total={list.total} />
      {list.isPart && <SearchOn list={list} />}
    </>
  );
}
