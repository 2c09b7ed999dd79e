import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Clock, HttpServer } from "@evenkeel/runtime";
import { parsePeers } from "./peers/peer-list.ts";
import { Peers } from "./peers/peers.ts";
import { AssetFiles } from "./serve/asset-files.ts";
import { dashboardRoutes } from "./serve/dashboard-routes.ts";
import type { DashboardSettings } from "./settings.ts";

/** What the dashboard needs of its service; a `Service` of the runtime has it all. */
export interface DashboardHost {
  readonly settings: DashboardSettings;
  readonly clock: Clock;
  readonly admin: Pick<HttpServer, "routes">;
}

/**
 * Serves the dashboard of a service at `/dashboard`, and `/api/v1/Dashboard/Peers`. `main` is the `import.meta.url` of
 * the service's main: the built files are in `dashboard/` beside a bundle, and in `dist/dashboard/` of the app beside
 * its sources. Where they are missing the page says how to build them. The page's data is what the admin port and the
 * JSON gateway serve.
 */
export function dashboard({ settings, clock, admin }: DashboardHost, main: string): void {
  const { folder, app } = dashboardFiles(main);
  dashboardRoutes(admin.routes, new AssetFiles(folder), app);

  const { dashboardPeers, dashboardLinks, dashboardPeerDeadline: deadline } = settings;
  const peers = new Peers({ peers: parsePeers(dashboardPeers, dashboardLinks).peers, deadline, clock });
  admin.routes.get("/api/v1/Dashboard/Peers", async () => ({ peers: await peers.states() }));
}

/** Where the built files of the app with this main are, and the app's name. */
export function dashboardFiles(main: string): { readonly folder: string; readonly app: string } {
  const file = fileURLToPath(main);
  const root = dirname(dirname(file));
  const folder = file.endsWith(".ts") ? join(root, "dist", "dashboard") : join(dirname(file), "dashboard");
  return { folder, app: basename(root) };
}
