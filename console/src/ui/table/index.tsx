import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { namesSettled, namesVersion } from "../../core/names";
import type { Total } from "../../core/query";
import { query, setQuery } from "../../core/router";
import { Button } from "../button";
import { formatCount, formatTotal } from "../format";
import { toCsv } from "./csv";
import { useWindow } from "./window";

export interface Column<Row> {
  readonly title: string;
  /** The value for sorting and for the exported file. */
  readonly value: (row: Row) => string | number | undefined;
  /** How the value is shown; as text by default. */
  readonly render?: (row: Row) => ComponentChildren;
  /** A width in pixels, such as "120px"; columns without one share the rest. */
  readonly width?: string;
  readonly isNumber?: boolean;
}

/** The rows that are selected, by key. */
export interface Selection {
  readonly keys: ReadonlySet<string>;
  set(keys: ReadonlySet<string>): void;
}

interface Props<Row> {
  /** Name for the rows; also the name of the exported file. */
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** Where a row leads: its first column is the link, and a click anywhere else in the row follows it. */
  readonly hrefOf?: (row: Row) => string;
  readonly total?: Total | undefined;
  readonly hasMore?: boolean;
  readonly onMore?: () => void;
  readonly selection?: Selection;
  /** Actions at the end of each row. */
  readonly rowActions?: (row: Row) => ComponentChildren;
  readonly rowActionsWidth?: string;
}

const rowPx = 40;
/** More rows are loaded when at most this many are left below. */
const moreRows = 30;
const selectionWidth = "44px";
const actionsWidth = "120px";
/** Minimum widths of columns without a width: the first one, which usually has the name, and others. */
const nameWidth = "180px";
const flexibleWidth = "130px";

/** A table that renders only the rows in view. The column titles sort it; the order is part of the address. */
export function Table<Row>(props: Props<Row>) {
  const { label, rows, columns, keyOf, hrefOf, total, hasMore = false, onMore, selection, rowActions } = props;
  const scroller = useRef<HTMLElement>(null);
  const order = query.value.get("sort") ?? "";
  // Columns may sort by names, which arrive later.
  const names = namesVersion.value;
  const sorted = useMemo(() => sortRows(rows, columns, order), [rows, columns, order, names]);
  const { first, last, refresh } = useWindow(scroller, sorted.length, rowPx);
  useLayoutEffect(refresh, [sorted.length, refresh]);
  useLayoutEffect(() => {
    if (hasMore && last >= sorted.length - moreRows) onMore?.();
  }, [hasMore, last, sorted.length, onMore]);
  const width = columns.length + (selection ? 1 : 0) + (rowActions ? 1 : 0);

  return (
    <div class="table-card">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: A region that scrolls must be reachable with the keyboard. */}
      <section aria-label={label} class="table-scroll" ref={scroller} tabIndex={0} {...rowHandlers}>
        <table
          aria-rowcount={hasMore ? -1 : sorted.length + 1}
          class="table"
          style={{ "--readable": `${readablePx(props)}px` }}
        >
          <colgroup>
            {selection && <col style={{ width: selectionWidth }} />}
            {columns.map(({ title, width: own }) => (
              <col key={title} style={own === undefined ? {} : { width: own }} />
            ))}
            {rowActions && <col style={{ width: props.rowActionsWidth ?? actionsWidth }} />}
          </colgroup>
          <thead>
            <tr aria-rowindex={1}>
              {selection && (
                <th scope="col">
                  <SelectAll keys={sorted.map(keyOf)} selection={selection} />
                </th>
              )}
              {columns.map((column) => (
                <Heading column={column} key={column.title} order={order} />
              ))}
              {rowActions && (
                <th scope="col">
                  <span class="visually-hidden">Actions</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            <Spacer columns={width} rows={first} />
            {sorted.slice(first, last).map((row, index) => {
              const key = keyOf(row);
              return (
                <tr
                  aria-rowindex={first + index + 2}
                  class="row"
                  data-selected={selection?.keys.has(key) ?? false}
                  key={key}
                >
                  {selection && (
                    <td>
                      <SelectRow name={key} selection={selection} />
                    </td>
                  )}
                  {columns.map((column, at) => (
                    <Cell column={column} href={at === 0 ? hrefOf?.(row) : undefined} key={column.title} row={row} />
                  ))}
                  {rowActions && <td class="end">{rowActions(row)}</td>}
                </tr>
              );
            })}
            <Spacer columns={width} rows={sorted.length - last} />
          </tbody>
        </table>
      </section>
      <div class="table-foot">
        {selection !== undefined && selection.keys.size > 0 && (
          <span class="selected">{selection.keys.size} selected</span>
        )}
        <span class="number">{countText(sorted.length, hasMore, total)}</span>
        {order !== "" && hasMore && <span>Sorted among the loaded rows.</span>}
        <span class="spacer" />
        <Button icon="download" onClick={() => save(label, sorted, columns)} small tone="quiet">
          CSV
        </Button>
      </div>
    </div>
  );
}

/** The width below which columns would be cut too much to be read. The table scrolls instead. */
function readablePx<Row>({ columns, selection, rowActions, rowActionsWidth }: Props<Row>): number {
  const widths = columns.map(({ width }, at) => width ?? (at === 0 ? nameWidth : flexibleWidth));
  if (selection) widths.push(selectionWidth);
  if (rowActions) widths.push(rowActionsWidth ?? actionsWidth);
  return widths.reduce((sum, width) => sum + Number.parseInt(width, 10), 0);
}

function countText(loaded: number, hasMore: boolean, total: Total | undefined): string {
  const count = formatCount(loaded);
  if (!hasMore) return `${count} ${loaded === 1 ? "row" : "rows"}`;
  return total === undefined ? `${count} rows loaded` : `${count} of ${formatTotal(total)} rows loaded`;
}

function Heading<Row>({ column: { title, isNumber }, order }: { column: Column<Row>; order: string }) {
  const isSorted = order.replace(/^-/, "") === title;
  const isDescending = order.startsWith("-");
  const next = !isSorted ? title : isDescending ? "" : `-${title}`;
  const sort = isSorted ? (isDescending ? "descending" : "ascending") : undefined;
  return (
    <th aria-sort={sort} class={isNumber ? "end" : undefined} scope="col">
      <button onClick={() => setQuery({ sort: next })} type="button">
        {title}
        {isSorted && <span aria-hidden="true">{isDescending ? "↓" : "↑"}</span>}
      </button>
    </th>
  );
}

function Cell<Row>({ column, row, href }: { column: Column<Row>; row: Row; href: string | undefined }) {
  const value = column.value(row);
  const content = column.render?.(row) ?? (typeof value === "number" ? formatCount(value) : value) ?? "–";
  return (
    // The whole text is shown on hover, because narrow columns cut it.
    <td class={column.isNumber ? "end" : undefined} title={typeof content === "string" ? content : undefined}>
      {href === undefined ? (
        content
      ) : (
        <a class="row-link" href={href}>
          {content}
        </a>
      )}
    </td>
  );
}

/** Stands for the rows that are not rendered. */
function Spacer({ rows, columns }: { readonly rows: number; readonly columns: number }) {
  if (rows <= 0) return null;
  return (
    <tr class="spacer" style={{ height: `${rows * rowPx}px` }}>
      <td colSpan={columns} />
    </tr>
  );
}

function SelectAll({ keys, selection }: { readonly keys: readonly string[]; readonly selection: Selection }) {
  const isAll = keys.length > 0 && keys.every((key) => selection.keys.has(key));
  return (
    <input
      aria-label="Select all loaded rows"
      checked={isAll}
      onChange={() => selection.set(new Set(isAll ? [] : keys))}
      type="checkbox"
    />
  );
}

function SelectRow({ name, selection }: { readonly name: string; readonly selection: Selection }) {
  const toggle = () => {
    const keys = new Set(selection.keys);
    if (!keys.delete(name)) keys.add(name);
    selection.set(keys);
  };
  return <input aria-label={`Select ${name}`} checked={selection.keys.has(name)} onChange={toggle} type="checkbox" />;
}

/** Follows the link of the row that was clicked, unless the click was for something in it, or selected text. */
function openRow(event: MouseEvent): void {
  const target = event.target as Element;
  if (target.closest("a, button, input, label, select") !== null || getSelection()?.isCollapsed === false) return;
  const { ctrlKey, metaKey, shiftKey } = event;
  target
    .closest("tr.row")
    ?.querySelector("a.row-link")
    ?.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey }));
}

const rowHandlers = { onClick: openRow, onKeyDown: moveFocus };

/** Moves between rows with the arrow keys. */
function moveFocus(event: KeyboardEvent): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const row = (event.target as Element).closest("tr.row");
  const next = event.key === "ArrowDown" ? row?.nextElementSibling : row?.previousElementSibling;
  const target =
    row === null ? (event.currentTarget as Element).querySelector("a.row-link") : next?.querySelector("a.row-link");
  if (!(target instanceof HTMLElement)) return;
  event.preventDefault();
  target.focus();
  target.scrollIntoView({ block: "nearest" });
}

function sortRows<Row>(rows: readonly Row[], columns: readonly Column<Row>[], order: string): readonly Row[] {
  const column = columns.find(({ title }) => title === order.replace(/^-/, ""));
  if (column === undefined) return rows;
  const direction = order.startsWith("-") ? -1 : 1;
  return rows.toSorted((a, b) => direction * compare(column.value(a), column.value(b)));
}

function compare(a: string | number | undefined, b: string | number | undefined): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a ?? "").localeCompare(String(b ?? ""), "en", { numeric: true });
}

/** Saves the rows as a file. The names of records in rows that were not in view are read first. */
async function save<Row>(label: string, rows: readonly Row[], columns: readonly Column<Row>[]): Promise<void> {
  toCsv(rows, columns);
  await namesSettled();
  download(`${label}.csv`, toCsv(rows, columns));
}

/** Saves a text as a file. */
function download(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name.toLowerCase().replaceAll(" ", "-");
  link.click();
  URL.revokeObjectURL(link.href);
}
