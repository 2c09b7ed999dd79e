/** How many volumes a cluster has. One that was claimed is not used again. */
const VOLUMES = 10;
const SIZE = "10Gi";
const NAME = "host-path";

/**
 * The default StorageClass and volumes in folders of the machine, made beforehand, so that a claim is bound without anybody who
 * provisions. Each object comes with the path of the collection that it is created in.
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
