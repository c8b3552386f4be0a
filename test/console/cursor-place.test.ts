import assert from "node:assert/strict";
import { test } from "node:test";
import { placeAt } from "../../console/src/pages/workflows/editor/cursor-place.ts";

/** The place of the bar in a text, as a path, and what is written there. */
function placeOf(marked: string): string {
  const offset = marked.indexOf("|");
  const { path, kind, from } = placeAt(marked.slice(0, offset) + marked.slice(offset + 1), offset);
  return `${path.join(".")} ${kind} ${marked.slice(from, offset)}`;
}

const places: Readonly<Record<string, string>> = {
  "|": " key ",
  "on_fa|": " key on_fa",
  "on_failure: com|": "on_failure value com",
  "steps:\n  - i|": "steps.[] key i",
  "steps:\n- i|": "steps.[] key i",
  "steps:\n  - id: a\n    ta|": "steps.[] key ta",
  "steps:\n  - id: a # {\n    task:\n      qu|": "steps.[].task key qu",
  "steps:\n  - id: a\n    task: { qu|": "steps.[].task key qu",
  "steps:\n  - id: a\n    task: { queue: ml, ty|": "steps.[].task key ty",
  "steps:\n  - id: a\n    task: { queue: m|": "steps.[].task.queue value m",
  'steps:\n  - id: a\n    map:\n      in: =input["x"]\n      on_error: c|': "steps.[].map.on_error value c",
  "steps:\n  - id: a\n    branch:\n      - when: =true\n        steps:\n          - id: b\n            ro|":
    "steps.[].branch.[].steps.[] key ro",
  "steps:\n  - id: a\n    task: { queue: ml }\non|": " key on",
  '{ "dsl": "1", "steps": [{ "id": "a", "task": { "qu|': 'steps.[].task key "qu',
  '{ "on_failure": "c|': 'on_failure value "c',
};

for (const [text, expected] of Object.entries(places)) {
  test(`${JSON.stringify(text)} is at ${expected}`, () => assert.equal(placeOf(text), expected));
}
