import type { Destination, Exchange } from "@evenkeel/forward";
import type { ProbeRule, ValueRule } from "../../binding.ts";
import { compilePattern } from "./pattern.ts";
import { PatternRefused } from "./errors.ts";

type Test = (value: string) => boolean;

interface Rule {
  readonly method: string | undefined;
  readonly path: Test | undefined;
  readonly headers: readonly (readonly [name: string, test: Test])[];
  readonly queryParams: readonly (readonly [name: string, test: Test])[];
  readonly answer: Destination;
}

/**
 * The compiled probe rules of one Service. Matches have the semantics of the Gateway API. One matching value of a
 * header or a query parameter is enough, and an expression may match anywhere in a value, as in the original.
 */
export class ProbeRules {
  /** Why rules match nothing. */
  readonly refused: readonly InstanceType<typeof PatternRefused>[];
  readonly #rules: readonly Rule[];

  constructor(rules: readonly ProbeRule[]) {
    const compiled = rules.map(compile);
    this.refused = compiled.flatMap(({ refused }) => refused);
    this.#rules = compiled.flatMap(({ rule, refused }) => (refused.length === 0 ? rule : []));
  }

  /** The response of the first matching rule. */
  answer(exchange: Exchange): Destination | undefined {
    if (this.#rules.length === 0) return undefined;
    const mark = exchange.path.indexOf("?");
    const path = mark < 0 ? exchange.path : exchange.path.slice(0, mark);
    const query = mark < 0 ? "" : exchange.path.slice(mark + 1);
    return this.#rules.find((rule) => matches(rule, exchange, path, query))?.answer;
  }
}

function matches(rule: Rule, exchange: Exchange, path: string, query: string): boolean {
  if (rule.method !== undefined && rule.method !== exchange.method) return false;
  if (rule.path && !rule.path(path)) return false;
  if (!rule.headers.every(([name, test]) => hasHeader(exchange, name, test))) return false;
  if (rule.queryParams.length === 0) return true;
  const params = new URLSearchParams(query);
  return rule.queryParams.every(([name, test]) => params.getAll(name).some(test));
}

function hasHeader({ headers }: Exchange, name: string, test: Test): boolean {
  for (let index = 0; index < headers.length; index += 2) {
    if ((headers[index] as string).toLowerCase() === name && test(headers[index + 1] as string)) return true;
  }
  return false;
}

interface Compiled {
  readonly rule: Rule;
  readonly refused: readonly InstanceType<typeof PatternRefused>[];
}

function compile({ method, path, headers, queryParams, response }: ProbeRule, index: number): Compiled {
  const refused: InstanceType<typeof PatternRefused>[] = [];
  const testOf = (
    { type, value }: { readonly type: "Exact" | "PathPrefix" | "RegularExpression"; readonly value: string },
    field: string,
  ): Test => {
    if (type === "Exact") return (actual) => actual === value;
    if (type === "PathPrefix") return pathPrefix(value);
    const pattern = compilePattern(value);
    if ("test" in pattern) return pattern.test;
    refused.push(new PatternRefused({ field: `probeResponse[${index}].${field}`, fault: pattern.fault }));
    return () => false;
  };
  const pairs = (rules: readonly ValueRule[], field: "headers" | "queryParams") =>
    rules.map((rule, at) => {
      const name = field === "headers" ? rule.name.toLowerCase() : rule.name;
      return [name, testOf(rule, `${field}[${at}]`)] as const;
    });
  const rule: Rule = {
    method,
    path: path && testOf(path, "path"),
    headers: pairs(headers, "headers"),
    queryParams: pairs(queryParams, "queryParams"),
    answer: { refuse: response },
  };
  return { rule, refused };
}

/** Compares whole path elements: `/a` is a prefix of `/a` and `/a/b`, not of `/ab`. A trailing slash is ignored. */
function pathPrefix(value: string): Test {
  const prefix = value.endsWith("/") ? value.slice(0, -1) : value;
  return (path) => path === prefix || path.startsWith(`${prefix}/`);
}
