import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { applyCasing, compileTemplate, type Engine } from "../index.ts";

const values = { at: "2026-03-01T23:30:00Z", ms: 1_772_407_800_000, s: 1_772_407_800, n: 1_234_567.891 };

/** Renders the same call in both engines and requires equal output. */
function both(call: string, locale: string, timezone: string): string {
  const [name, value, ...args] = call.split(" ");
  const sources: Record<Engine, string> = {
    handlebars: `{{${name} ${value} ${args.join(" ")}}}`,
    liquid: `{{ ${value} | ${name}${args.length > 0 ? ": " : ""}${args.join(", ").replaceAll("=", ": ")} }}`,
  };
  const [first, second] = (Object.keys(sources) as Engine[]).map((engine) =>
    compileTemplate(engine, sources[engine]).render(values, { escape: "none", nowMs: values.ms, locale, timezone }),
  );
  assert.equal(first, second, call);
  return first!;
}

suite("formats", () => {
  test("dates use the reader's language and time zone, in both engines", () => {
    assert.equal(both('date at "long"', "de-DE", "Europe/Berlin"), "2. März 2026");
    assert.equal(both('date at "long"', "en-US", "America/New_York"), "March 1, 2026");
    assert.equal(both("date ms", "de-DE", "Europe/Berlin"), "02.03.2026");
    assert.equal(both("date s", "de-DE", "Europe/Berlin"), "02.03.2026");
    assert.equal(both('time at timezone="Asia/Tokyo"', "de-DE", "UTC"), "08:30");
    assert.equal(both('date at "iso"', "de-DE", "Europe/Berlin"), "2026-03-01T23:30:00.000Z");
    assert.equal(both('date at "%Y-%m-%dT%H:%M:%S%z"', "de-DE", "Europe/Berlin"), "2026-03-02T00:30:00+0100");
    assert.equal(both('date at "%A,%-d.%B,%j,%I%p"', "fr-FR", "UTC"), "dimanche,1.mars,060,11PM");
  });

  test("now is the time that the caller gives, in both engines", () => {
    assert.equal(both('date "now"', "de-DE", "Europe/Berlin"), "02.03.2026");
    assert.equal(both('date "now" "%H:%M"', "de-DE", "Asia/Tokyo"), "08:30");
    assert.equal(both('time "now"', "de-DE", "UTC"), "23:30");
  });

  test("numbers and amounts use the reader's language, in both engines", () => {
    assert.equal(both("number n 2", "de-DE", ""), "1.234.567,89");
    assert.equal(both("number n", "en-IN", ""), "12,34,567.891");
    assert.equal(both('currency n "EUR"', "de-DE", "").replaceAll("\u00a0", " "), "1.234.567,89 €");
    assert.equal(both('currency n "JPY"', "en-US", ""), "¥1,234,568");
  });

  test("an unknown language or time zone falls back to English and UTC, and invalid dates and numbers stay unchanged", () => {
    assert.equal(both('date at "medium"', "not a locale", "Mars/Olympus"), "Mar 1, 2026");
    assert.equal(both('number n locale="???"', "", ""), "1,234,567.891");
    assert.equal(both('date "soon"', "en", "UTC"), "soon");
    assert.equal(both('number "many"', "en", "UTC"), "many");
    assert.equal(both("date gone", "en", "UTC"), "");
  });

  test("casing follows the rules of the language", () => {
    assert.equal(applyCasing("Hello", ""), "Hello");
    assert.equal(applyCasing("straße", "upper", "de"), "STRASSE");
    assert.equal(applyCasing("istanbul", "upper", "tr-TR"), "İSTANBUL");
    assert.equal(applyCasing("HELLO it's me", "title"), "Hello It's Me");
    assert.equal(applyCasing("HELLO. IS it? «YES»", "sentence"), "Hello. Is it? «Yes»");
    assert.equal(applyCasing("ABC", "lower", "no such locale"), "abc");
  });
});
