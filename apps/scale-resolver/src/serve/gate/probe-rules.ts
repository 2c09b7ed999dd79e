import type { Destination, Exchange } from "@evenkeel/forward";
import type { ProbeRule, ValueRule } from "../../binding.ts";
import { compilePattern } from "./bounded-pattern.ts";

type Test = (value: string) => boolean;

interface Rule {
  readonly method: string | undefined;
  readonly path: Test | undefined;
  readonly headers: readonly (readonly [name: string, test: Test])[];
  readonly queryParams: readonly (readonly [name: string, test: Test])[];
  readonly answer: Destination;
}

/** The probe rules of one Service, compiled. The meaning of matches is that of the Gateway API. */
export class ProbeRules {
  readonly #rules: readonly Rule[];

  /** `refused` hears why a regular expression is not used; its rule matches nothing. */
  constructor(rules: readonly ProbeRule[], refused: (fault: string) => void) {
    this.#rules = rules.flatMap((rule) => compile(rule, refused) ?? []);
  }

  /** The answer of the first rule that matches. */
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
  for (const [name, test] of rule.headers) {
    const value = exchange.header(name);
    if (value === undefined || !test(value)) return false;
  }
  if (rule.queryParams.length === 0) return true;
  const params = new URLSearchParams(query);
  return rule.queryParams.every(([name, test]) => {
    const value = params.get(name);
    return value !== null && test(value);
  });
}

function compile(rule: ProbeRule, refused: (fault: string) => void): Rule | undefined {
  const faults: string[] = [];
  const testOf = (type: "Exact" | "PathPrefix" | "RegularExpression", value: string): Test => {
    if (type === "Exact") return (actual) => actual === value;
    if (type === "PathPrefix") return pathPrefix(value);
    const pattern = compilePattern(value);
    if ("test" in pattern) return pattern.test;
    faults.push(pattern.fault);
    return () => false;
  };
  const pairs = (rules: readonly ValueRule[], nameOf: (name: string) => string) =>
    rules.map(({ name, type, value }) => [nameOf(name), testOf(type, value)] as const);
  const { status, body } = rule.response;
  const compiled: Rule = {
    method: rule.method,
    path: rule.path && testOf(rule.path.type, rule.path.value),
    headers: pairs(rule.headers, (name) => name.toLowerCase()),
    queryParams: pairs(rule.queryParams, (name) => name),
    answer: { refuse: { status, body } },
  };
  for (const fault of faults) refused(fault);
  return faults.length === 0 ? compiled : undefined;
}

/** Whole elements of the path: `/a` is a prefix of `/a` and `/a/b`, not of `/ab`. A slash at the end says nothing. */
function pathPrefix(value: string): Test {
  const prefix = value.endsWith("/") ? value.slice(0, -1) : value;
  return (path) => path === prefix || path.startsWith(`${prefix}/`);
}
