import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "@evenkeel/runtime/testing";
import { stateContract, type StateHarness } from "@evenkeel/state/contract";
import { openedState } from "../src/index.ts";

stateContract("SQLite in memory", () => startSqlite("sqlite::memory:", () => undefined));

stateContract("SQLite in a file", () => {
  const folder = mkdtempSync(join(tmpdir(), "evenkeel-sqlite-"));
  return startSqlite(`sqlite:${join(folder, "state.db")}`, () => rmSync(folder, { recursive: true }));
});

/** One process, one handle: the file is locked to it. */
async function startSqlite(address: string, cleanUp: () => void): Promise<StateHarness> {
  const clock = new FakeClock();
  const { state, close } = await openedState(address, { clock });
  return {
    open: () => Promise.resolve(state),
    elapse: (milliseconds) => clock.advance(milliseconds),
    close: async () => {
      await close();
      cleanUp();
    },
  };
}
