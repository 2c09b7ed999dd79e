import { ELASTI_SERVICE, NODE_CLASS } from "@evenkeel/api";
import { expect, test } from "@jest/globals";
import { resourceTypeOf } from "./resource-type.ts";

test.each([
  [ELASTI_SERVICE, true],
  [NODE_CLASS, false],
])("gives a kind's paths", (kind, namespaced) => {
  const { group, version, plural } = kind;
  expect(resourceTypeOf(kind)).toEqual({ group, version, kind: kind.kind, plural, namespaced });
});
