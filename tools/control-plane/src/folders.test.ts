import { expect, test } from "@jest/globals";
import { foldersFrom } from "./folders.ts";

test.each([
  [{}, "/home/me/.cache/evenkeel/control-plane", "/home/me/.local/state/evenkeel/control-plane"],
  [{ XDG_CACHE_HOME: "/c", XDG_STATE_HOME: "/s" }, "/c/evenkeel/control-plane", "/s/evenkeel/control-plane"],
  [
    { XDG_CACHE_HOME: "here", XDG_STATE_HOME: "" },
    "/home/me/.cache/evenkeel/control-plane",
    "/home/me/.local/state/evenkeel/control-plane",
  ],
])("with %j files are kept in %s and %s", (environment, cache, state) => {
  expect(foldersFrom(environment, "/home/me")).toEqual({ cache, state });
});
