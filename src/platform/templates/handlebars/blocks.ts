import type { Run } from "../run.ts";
import { keysOf, memberOf, unwrapSafe } from "../values.ts";
import { isTrue } from "./helpers.ts";
import type { Evaluate, Frame, Write } from "./scope.ts";

/** Renders one of two bodies, depending on a condition. */
export function choice(condition: Evaluate, then: Write, otherwise: Write): Write {
  return (run, frame) => {
    run.spend(1);
    if (isTrue(condition(run, frame))) then(run, frame);
    else otherwise(run, frame);
  };
}

/** Renders a body with a new context, or the alternative if the context is falsy. */
export function withContext(value: Evaluate, body: Write, otherwise: Write): Write {
  return (run, frame) => {
    run.spend(2);
    const context = unwrapSafe(value(run, frame));
    if (isTrue(context)) body(run, { parent: frame, context, loop: undefined });
    else otherwise(run, frame);
  };
}

/** Renders a body for each item of a list or member of an object, or the alternative if it is empty. */
export function eachOf(value: Evaluate, body: Write, otherwise: Write): Write {
  return (run, frame) => {
    run.spend(2);
    const items = value(run, frame);
    const keys = Array.isArray(items) ? undefined : keysOf(run, items);
    if ((keys ?? (items as unknown[])).length === 0) otherwise(run, frame);
    else if (keys === undefined) eachItem(run, frame, items as unknown[], body);
    else eachMember(run, frame, items as object, keys, body);
  };
}

/** Renders a section: for each item of a list, with an object as context, or with the same context for `true`. */
export function section(value: Evaluate, body: Write, otherwise: Write): Write {
  const each = eachOf(value, body, otherwise);
  const within = withContext(value, body, otherwise);
  return (run, frame) => {
    const given = value(run, frame);
    if (Array.isArray(given)) each(run, frame);
    else if (given === true) body(run, { parent: frame, context: frame.context, loop: undefined });
    else within(run, frame);
  };
}

function eachItem(run: Run, parent: Frame, items: readonly unknown[], body: Write): void {
  const end = items.length - 1;
  for (let index = 0; index <= end; index++) {
    run.spend(3);
    const loop = { index, key: index, first: index === 0, last: index === end };
    body(run, { parent, context: items[index], loop });
  }
}

function eachMember(run: Run, parent: Frame, members: object, keys: readonly string[], body: Write): void {
  const end = keys.length - 1;
  for (const [index, key] of keys.entries()) {
    run.spend(3);
    const loop = { index, key, first: index === 0, last: index === end };
    body(run, { parent, context: memberOf(members, key), loop });
  }
}
