import { join } from "node:path";

/** Root of the workspace. */
export const root = join(import.meta.dirname, "../../..");

/** Folder of the charts in the workspace. */
export const charts = join(root, "charts");
