import { expect, test } from "@jest/globals";
import { NO_ASSIGNMENTS } from "../decide/assignments.ts";
import { Owners } from "../decide/owners.ts";
import type { Target } from "../observe/target.ts";
import { Answers } from "./answers.ts";

function target(address: string, job = "prometheus/a"): Target {
  const labels = new Map([
    ["__address__", address],
    ["job", "a"],
  ]);
  return { identity: `${job}${address}`, key: `${job} ${address}`, job, address, labels, interval: 1 };
}

const owners = (...names: readonly string[]) =>
  new Owners({ ...NO_ASSIGNMENTS, at: 1, members: names.map((name) => ({ name })) });

const addresses = (bytes: string | Buffer) =>
  (JSON.parse(bytes.toString()) as readonly { readonly targets: readonly string[] }[]).flatMap(
    ({ targets }) => targets,
  );

test("tells each collector its own targets, with their labels but the address", () => {
  const answers = new Answers();
  answers.assign(owners("x"));
  answers.update({ added: [target("b:1"), target("a:1")], removed: [] });
  expect(JSON.parse(answers.targetsOf("prometheus/a", "x").toString())).toEqual([
    { targets: ["a:1"], labels: { job: "a" } },
    { targets: ["b:1"], labels: { job: "a" } },
  ]);
  expect(answers.targetsOf("prometheus/a", "y").toString()).toBe("[]");
});

test("makes the bytes of a job once for each of its changes", () => {
  const answers = new Answers();
  answers.assign(owners("x"));
  answers.update({ added: [target("a:1"), target("c:1", "prometheus/other")], removed: [] });
  const before = answers.targetsOf("prometheus/a", "x");
  answers.update({ added: [], removed: [target("c:1", "prometheus/other")] });
  expect(answers.targetsOf("prometheus/a", "x")).toBe(before);
  answers.update({ added: [target("b:1")], removed: [target("a:1")] });
  expect(addresses(answers.targetsOf("prometheus/a", "x"))).toEqual(["b:1"]);
  answers.assign(owners("y"));
  expect(addresses(answers.targetsOf("prometheus/a", "x"))).toEqual([]);
  expect(addresses(answers.targetsOf("prometheus/a", "y"))).toEqual(["b:1"]);
});
