import { expect, test } from "@jest/globals";
import { strategicMerge } from "./strategic-merge.ts";

const base = {
  metadata: { labels: { a: "1" } },
  spec: {
    serviceAccountName: "one",
    tolerations: [{ key: "x" }],
    containers: [
      {
        name: "aoc2",
        image: "one",
        env: [{ name: "A", value: "1" }],
        ports: [{ containerPort: 80, name: "http" }],
      },
    ],
  },
};

test.each([
  ["a field", { spec: { serviceAccountName: "two" } }, { spec: { serviceAccountName: "two" } }],
  ["a label beside the others", { metadata: { labels: { b: "2" } } }, { metadata: { labels: { a: "1", b: "2" } } }],
  ["a list without names as a whole", { spec: { tolerations: [] } }, { spec: { tolerations: [] } }],
  [
    "a container by its name",
    { spec: { containers: [{ name: "aoc2", image: "two", env: [{ name: "B", value: "2" }] }, { name: "side" }] } },
    {
      spec: {
        containers: [
          {
            name: "aoc2",
            image: "two",
            env: [
              { name: "A", value: "1" },
              { name: "B", value: "2" },
            ],
          },
          { name: "side" },
        ],
      },
    },
  ],
  [
    "a port by its number and protocol",
    { spec: { containers: [{ name: "aoc2", ports: [{ containerPort: 80, protocol: "UDP" }] }] } },
    {
      spec: {
        containers: [
          {
            ports: [
              { containerPort: 80, name: "http" },
              { containerPort: 80, protocol: "UDP" },
            ],
          },
        ],
      },
    },
  ],
])("merges %s", (_what, patch, expected) => {
  expect(strategicMerge(base, patch)).toMatchObject(expected);
});

test("removes what is null", () => {
  expect(strategicMerge({ a: 1, b: { c: 2, d: 3 } }, { a: null, b: { c: null } })).toEqual({ b: { d: 3 } });
});
