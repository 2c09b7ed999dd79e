import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Whether a program is on the PATH: a test that needs it is skipped without it, under a name that says so. */
export function hasCommand(name: string, path = process.env["PATH"] ?? ""): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
