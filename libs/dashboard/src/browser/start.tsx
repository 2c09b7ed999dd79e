import { render } from "preact";
import { Access } from "./api/access.ts";
import { JsonApi } from "./api/api.ts";
import { Connection } from "./live/connection.ts";
import { ConnectionContext } from "./live/hooks.ts";
import { Shell } from "./shell/shell.tsx";
import "./style/index.css";
import type { View } from "./view.ts";

/** Puts the dashboard on the page, with the view of its service if it has one. */
export function start(view?: View): void {
  const root = document.getElementById("app");
  if (!root) throw new Error("the page has no place for the dashboard");
  root.replaceChildren();
  // The page is at <anything>/dashboard/; the API is next to it.
  const access = new Access();
  const api = new JsonApi("../", access);
  render(
    <ConnectionContext.Provider value={new Connection(document, access)}>
      <Shell api={api} access={access} view={view} />
    </ConnectionContext.Provider>,
    root,
  );
}
