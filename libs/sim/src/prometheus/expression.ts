import { QueryError, type QueryAnswer } from "./query-answer.ts";
import type { Labels, Sample } from "./series.ts";

/**
 * The little of PromQL that is understood: numbers, selectors with `=` and `!=`, `sum(…)` and `scalar(…)` around them.
 */
export type Expression =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "selector"; readonly fits: (metric: Labels) => boolean }
  | { readonly kind: "sum" | "scalar"; readonly inner: Expression };

const CALL = /^(sum|scalar)\s*\(([\s\S]*)\)$/;
const SELECTOR = /^([A-Za-z_:][\w:]*)?\s*(?:\{([\s\S]*)\})?$/;
const MATCHER = /\s*([A-Za-z_]\w*)\s*(=|!=)\s*"((?:[^"\\\n]|\\.)*)"\s*(,|$)/y;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+|inf|nan)$/i;

/** Throws bad_data for what is no PromQL as far as can be told, and a 501 for what is not understood. */
export function parseExpression(query: string): Expression {
  const text = query.trim();
  if (text === "") throw badQuery("1:1: parse error: no expression found in input");
  if (!balanced(text)) throw badQuery("parse error: unclosed or unexpected bracket, brace, parenthesis or quote");
  const expression = understood(text);
  if (expression !== undefined) return expression;
  const why = `the embedded Prometheus does not understand ${JSON.stringify(query)}: give it an answer to this exact text`;
  throw new QueryError("execution", why, 501);
}

/** What it comes to among the samples of one time. */
export function evaluate(expression: Expression, samples: readonly Sample[]): QueryAnswer {
  switch (expression.kind) {
    case "number":
      return { kind: "scalar", value: expression.value };
    case "selector":
      return { kind: "vector", samples: samples.filter(({ metric }) => expression.fits(metric)) };
    case "sum":
    case "scalar": {
      const inner = evaluate(expression.inner, samples);
      if (inner.kind !== "vector") throw badQuery(`parse error: expected type instant vector in ${expression.kind}`);
      const [first, ...more] = inner.samples;
      if (expression.kind === "scalar")
        return { kind: "scalar", value: first === undefined || more.length > 0 ? NaN : first.value };
      if (first === undefined) return inner;
      return {
        kind: "vector",
        samples: [{ metric: {}, value: more.reduce((sum, { value }) => sum + value, first.value) }],
      };
    }
  }
}

function understood(text: string): Expression | undefined {
  if (NUMBER.test(text)) return { kind: "number", value: Number(text.replace(/inf/i, "Infinity")) };
  const call = CALL.exec(text);
  if (call !== null) {
    const inner = understood((call[2] ?? "").trim());
    return inner && { kind: call[1] === "sum" ? "sum" : "scalar", inner };
  }
  const [whole, name, matchers = ""] = SELECTOR.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const rules = readMatchers(matchers);
  if (rules === undefined || (name === undefined && rules.length === 0)) return undefined;
  const fits = (metric: Labels): boolean =>
    (name === undefined || metric["__name__"] === name) &&
    rules.every(({ label, equal, value }) => ((metric[label] ?? "") === value) === equal);
  return { kind: "selector", fits };
}

function readMatchers(text: string): { label: string; equal: boolean; value: string }[] | undefined {
  const rules = [];
  let end = 0;
  const pattern = new RegExp(MATCHER);
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [, label = "", operator, value = ""] = match;
    rules.push({ label, equal: operator === "=", value: value.replace(/\\(["\\])/g, "$1") });
    end = pattern.lastIndex;
  }
  return text.slice(end).trim() === "" ? rules : undefined;
}

function balanced(text: string): boolean {
  const closes: string[] = [];
  const pairs: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };
  const bare = text.replace(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`/g, "");
  for (const sign of bare.match(/[()[\]{}"'`]/g) ?? []) {
    const close = pairs[sign];
    if (close !== undefined) closes.push(close);
    else if (closes.pop() !== sign) return false;
  }
  return closes.length === 0;
}

function badQuery(why: string): QueryError {
  return new QueryError("bad_data", `invalid parameter "query": ${why}`);
}
