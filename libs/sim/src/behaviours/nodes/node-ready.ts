import type { StoredObject } from "../../object.ts";
import { conditionOf } from "../object-state.ts";

export function isNodeReady(node: StoredObject): boolean {
  return conditionOf(node, "Ready")?.["status"] === "True";
}
