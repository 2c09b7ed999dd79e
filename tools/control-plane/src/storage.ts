/** Number of volumes of a cluster. A volume is used for one claim. */
const VOLUMES = 10;
const SIZE = "10Gi";
const NAME = "host-path";

/**
 * The default StorageClass and pre-provisioned volumes in folders of the machine, so that a claim is bound without a
 * provisioner. Each object has the path of its collection.
 */
export function storageObjects(
  folderOf: (volume: string) => string,
): { readonly path: string; readonly body: object }[] {
  const storageClass = {
    metadata: { name: NAME, annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
    provisioner: "kubernetes.io/no-provisioner",
    volumeBindingMode: "WaitForFirstConsumer",
  };
  const volumes = Array.from({ length: VOLUMES }, (_, index) => ({
    metadata: { name: `${NAME}-${index}` },
    spec: {
      storageClassName: NAME,
      capacity: { storage: SIZE },
      accessModes: ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Retain",
      hostPath: { path: folderOf(`${NAME}-${index}`), type: "DirectoryOrCreate" },
    },
  }));
  return [
    { path: "/apis/storage.k8s.io/v1/storageclasses", body: storageClass },
    ...volumes.map((body) => ({ path: "/api/v1/persistentvolumes", body })),
  ];
}
