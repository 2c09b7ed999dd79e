import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { TRANSITIONS } from "../src/decide/transitions.ts";

const page = readFileSync(join(import.meta.dirname, "../../../docs/services/scale-resolver.md"), "utf8");

test("the page of the service has every arrow of the state machine, in their order, and no others", () => {
  const rows = page
    .split("\n")
    .slice(page.split("\n").findIndex((line) => line.startsWith("| from → to")) + 2)
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const shown = rows.slice(
    0,
    rows.findIndex((cells) => cells.length === 0),
  );
  const states = (from: string, to: string) => (to === "same" || from === to ? from : `${from} → ${to}`);
  expect(shown).toEqual(
    TRANSITIONS.map(({ from, to, action, reason, when }) => [states(from, to), action, `\`${reason}\``, when]),
  );
});
