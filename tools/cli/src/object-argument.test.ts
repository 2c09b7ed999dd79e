import { describe, expect, test } from "@jest/globals";
import { WrongUsage } from "./errors.ts";
import { namedObject } from "./object-argument.ts";
import { tankKeeper } from "./testing/tank-registration.ts";

const named = (words: readonly string[], namespace?: string) => namedObject(words, [tankKeeper], namespace);

describe("an object on the command line", () => {
  test.each([
    ["in one word", ["Tank/harbour/fore"]],
    ["in two words", ["tank", "harbour/fore"]],
    ["in lower case", ["tank/harbour/fore"]],
    ["in the plural", ["tanks/harbour/fore"]],
  ])("may be written %s", (_name, words) => {
    const { object, registration } = named(words);
    expect(object).toEqual({ kind: "Tank", namespace: "harbour", name: "fore" });
    expect(registration).toBe(tankKeeper);
  });

  test("takes its namespace from -n if it names none", () => {
    expect(named(["tank/fore"], "harbour").object).toEqual({ kind: "Tank", namespace: "harbour", name: "fore" });
    expect(named(["tank/sea/fore"], "harbour").object).toMatchObject({ namespace: "sea" });
  });

  test("of the cluster has no namespace", () => {
    expect(named(["harbour/east"], "ignored").object).toEqual({ kind: "Harbour", name: "east" });
  });

  test("of an unknown kind is taken as it is written", () => {
    expect(named(["Ship/sea/argo"])).toEqual({
      object: { kind: "Ship", namespace: "sea", name: "argo" },
      registration: undefined,
    });
    expect(named(["Ship/argo"]).object).toEqual({ kind: "Ship", name: "argo" });
  });

  test.each([[["tank"]], [["tank/fore"]], [["tank/a/b/c"]], [["tank//fore"]], [["harbour/a/b"]]])(
    "as %p is refused",
    (words) => {
      expect(() => named(words)).toThrow(WrongUsage);
    },
  );
});
