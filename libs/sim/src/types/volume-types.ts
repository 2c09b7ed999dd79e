import { builtIn } from "./built-in-type.ts";
import { flag, list, open, text, textMap } from "./open-schema.ts";
import type { ResourceType } from "./resource-type.ts";

/** What the placement of pods with volumes depends on. Objects are stored; no controller binds or attaches anything. */
export const volumeTypes: readonly ResourceType[] = [
  builtIn(
    "v1 PersistentVolumeClaim persistentvolumeclaims",
    { spec: open(), status: open() },
    { status: "apart", shortNames: ["pvc"] },
  ),
  builtIn(
    "v1 PersistentVolume persistentvolumes cluster",
    { spec: open(), status: open() },
    { status: "apart", shortNames: ["pv"] },
  ),
  builtIn(
    "storage.k8s.io/v1 StorageClass storageclasses cluster",
    { provisioner: text, parameters: textMap, volumeBindingMode: text, allowVolumeExpansion: flag },
    { shortNames: ["sc"], required: ["provisioner"] },
  ),
  builtIn(
    "storage.k8s.io/v1 CSINode csinodes cluster",
    { spec: open({ drivers: list }, ["drivers"]) },
    {
      required: ["spec"],
    },
  ),
];
