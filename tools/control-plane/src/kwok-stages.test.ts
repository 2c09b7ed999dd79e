import { expect, test } from "@jest/globals";
import { parseAllDocuments } from "yaml";
import { joinDocuments } from "./kwok-stages.ts";

test("joined documents are one stream with as many documents", () => {
  const joined = joinDocuments(["kind: Stage\nname: a\n", "kind: Stage\nname: b", "\nkind: Stage\nname: c\n\n"]);
  const documents: unknown[] = parseAllDocuments(joined).map((document) => document.toJS() as unknown);
  expect(documents).toEqual(["a", "b", "c"].map((name) => ({ kind: "Stage", name })));
});
