import { expect, test } from "@jest/globals";
import { valuesPage } from "./values-page.ts";

const chart = { chart: "tide", description: "Keeps the tide." };

test("a value is a row with its type, default and meaning", () => {
  const properties = {
    replicas: { type: "integer", minimum: 0, description: "Pods." },
    image: { type: "object", properties: { pull: { enum: ["Always", "Never"], description: "When." } } },
  };
  const page = valuesPage([{ ...chart, schema: { properties }, defaults: { replicas: 1, image: { pull: "Never" } } }]);
  expect(page).toContain("| `replicas` | integer from 0 | `1` | Pods. |");
  expect(page).toContain('| `image.pull` | Always\\|Never | `"Never"` | When. |');
});

test.each([
  ["a description", { type: "string" }, { x: "" }],
  ["a default", { type: "string", description: "X." }, {}],
])("a value without %s is refused", (lacking, x, defaults) => {
  expect(() => valuesPage([{ ...chart, schema: { properties: { x } }, defaults }])).toThrow(
    `tide: x has no ${lacking.slice(2)}`,
  );
});
