import { DRIVER, ZONE } from "./nodes.ts";

/** Claims that are bound already, by number: of a zone, of a zone by label, of one pod only, and without a place. */
export function volume(index: number): { readonly volume: object; readonly claim: object } {
  const kind = index % 4;
  const name = `volume-${index}`;
  const zone = ["a", "b", "c"][index % 3] ?? "a";
  const accessModes = [kind === 2 ? "ReadWriteOncePod" : "ReadWriteMany"];
  const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE, operator: "In", values: [zone] }] }] };
  return {
    volume: {
      ...{ apiVersion: "v1", kind: "PersistentVolume" },
      metadata: { name, labels: kind === 1 ? { [ZONE]: `${zone}__a` } : {} },
      spec: {
        ...{ capacity: { storage: "1Gi" }, accessModes, storageClassName: "" },
        persistentVolumeReclaimPolicy: "Retain",
        csi: { driver: DRIVER, volumeHandle: `handle-${index}` },
        claimRef: { namespace: "default", name },
        ...(kind === 0 ? { nodeAffinity: { required } } : {}),
      },
    },
    claim: {
      ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { namespace: "default", name } },
      spec: { accessModes, storageClassName: "", volumeName: name, resources: { requests: { storage: "1Gi" } } },
    },
  };
}
