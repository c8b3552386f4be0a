import assert from "node:assert/strict";
import { test } from "node:test";
import { createSql, type Fragment } from "../sql.ts";
import { ResultRows, type Shape } from "./statement.ts";

/** A `sql` that records its statements. */
function recorded() {
  const runs: { shape: Shape; parameters: unknown[] }[] = [];
  const texts: string[] = [];
  const sql = createSql({
    run: async (shape, parameters) => {
      runs.push({ shape, parameters });
      return new ResultRows();
    },
    runText: async (text) => {
      texts.push(text);
      return new ResultRows();
    },
  });
  return { sql, runs, texts };
}

test("values become parameters, names are quoted, and fragments become part of the statement", async () => {
  const { sql, runs } = recorded();
  const where = sql`where id = ${"a"} and ${sql('odd"name')} > ${3}`;
  await sql`select ${sql("public.pools")} from t ${where} limit ${10}`;
  assert.equal(runs.length, 1);
  assert.equal(runs[0]!.shape.text, 'select "public"."pools" from t where id = $1 and "odd""name" > $2 limit $3');
  assert.deepEqual(runs[0]!.parameters, ["a", 3, 10]);
});

test("a statement runs when it is awaited, and once", async () => {
  const { sql, runs } = recorded();
  const statement = sql`select 1`;
  assert.equal(runs.length, 0);
  await Promise.all([statement, statement.catch(() => {}), statement.finally(() => {})]);
  assert.equal(runs.length, 1);
});

test("the first row of a statement is its result without the rest, and undefined without rows", async () => {
  const results = [ResultRows.of({ n: 1 }, { n: 2 }), ResultRows.of()] as ResultRows<unknown>[];
  const sql = createSql({ run: async () => results.shift()!, runText: async () => new ResultRows() });
  assert.deepEqual(await sql<{ n: number }[]>`select n from t`.first(), { n: 1 });
  assert.equal(await sql`select n from t`.first(), undefined);
});

test("only calls that differ in nothing but their values share a shape", async () => {
  const { sql, runs } = recorded();
  const one = (value: string | number | boolean | Date | Fragment) => sql`select ${value}, ${"x"}`;
  const none = sql``;
  const values = ["a", 7, true, new Date(0), none, sql`now()`, sql`${1}`];
  for (const value of [...values, ...values]) await one(value);
  const shapes = runs.map(({ shape }) => shape);
  assert.equal(shapes[0], shapes[1]);
  // A fragment from another call site is another fragment.
  for (let i = 0; i < values.length; i++) assert.equal(shapes[i], shapes[i + values.length]);
  assert.equal(new Set(shapes).size, 6);
  assert.deepEqual(
    shapes.slice(0, values.length).map(({ text }) => text),
    [
      "select $1, $2",
      "select $1, $2",
      "select $1, $2",
      "select $1, $2",
      "select , $1",
      "select now(), $1",
      "select $1, $2",
    ],
  );
});

test("the same fragment in another position is another statement", async () => {
  const { sql, runs } = recorded();
  const piece = sql`now()`;
  const two = (first: string | Fragment, second: string | Fragment) => sql`select ${first}, ${second}`;
  await two(piece, "a");
  await two("a", piece);
  await two(piece, piece);
  assert.deepEqual(
    runs.map(({ shape }) => shape.text),
    ["select now(), $1", "select $1, now()", "select now(), now()"],
  );
});

test("rows become columns and values", async () => {
  const { sql, runs } = recorded();
  await sql`insert into t ${sql([
    { id: 1, tags: ["a", "b"] },
    { id: 2, tags: [] },
  ])} returning id`;
  assert.equal(runs[0]!.shape.text, 'insert into t ("id","tags") values ($1,$2),($3,$4) returning id');
  assert.deepEqual(runs[0]!.parameters, [1, ["a", "b"], 2, []]);
});

test("undefined is refused, wherever it is", async () => {
  const { sql, runs } = recorded();
  const missing = undefined as unknown as string;
  await assert.rejects(async () => await sql`select ${missing}`, { code: "UNDEFINED_VALUE" });
  await assert.rejects(async () => await sql`select ${sql`${missing}`}`, { code: "UNDEFINED_VALUE" });
  await assert.rejects(async () => await sql`insert into t ${sql({ id: missing })}`, { code: "UNDEFINED_VALUE" });
  assert.equal(runs.length, 0);
});

test("a raw text runs unchanged, alone or as a fragment", async () => {
  const { sql, runs, texts } = recorded();
  await sql.unsafe("select 1; select 2");
  assert.deepEqual(texts, ["select 1; select 2"]);
  await sql`select ${sql.unsafe("a + 1")} from t where b = ${2}`;
  await sql.unsafe("select $1", [true]);
  assert.deepEqual(
    runs.map(({ shape, parameters }) => [shape.text, shape.types, parameters]),
    [
      ["select a + 1 from t where b = $1", [0], [2]],
      ["select $1", [16], [true]],
    ],
  );
});
