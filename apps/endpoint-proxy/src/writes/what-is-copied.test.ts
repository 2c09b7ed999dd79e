import { expect, test } from "@jest/globals";
import { at, textAt } from "../bodies/json-text.ts";
import { JsonBody } from "../bodies/object-body.ts";
import { copyOfHolder, forPeer, replacing, replacingEncoded } from "./what-is-copied.ts";

const BOUND = {
  "pv.kubernetes.io/bind-completed": "yes",
  "pv.kubernetes.io/bound-by-controller": "yes",
  "volume.kubernetes.io/selected-node": "node-1",
  "volume.kubernetes.io/storage-provisioner": "csi.example.com",
  "volume.beta.kubernetes.io/storage-provisioner": "csi.example.com",
};
const claim = (volumeName: string | undefined, annotations: Record<string, string>) => ({
  kind: "PersistentVolumeClaim",
  metadata: { name: "data", annotations },
  spec: { accessModes: ["ReadWriteOnce"], ...(volumeName === undefined ? {} : { volumeName }) },
});
const bound = claim("pv-1", { ...BOUND, team: "shop" });

test("a claim that is bound in one cluster reaches another as one that is not", () => {
  const fresh = claim(undefined, { team: "shop" });
  expect(copyOfHolder("PersistentVolumeClaim", bound)).toEqual(fresh);
  expect(forPeer("PersistentVolumeClaim", new JsonBody(bound)).view).toEqual(fresh);
});

test("a new claim that names a volume, and is not bound, names it in a peer too", () => {
  const named = claim("pv-1", { team: "shop" });
  expect(forPeer("PersistentVolumeClaim", new JsonBody(named)).view).toEqual(named);
});

test("a claim that a peer has keeps what the controllers there wrote", () => {
  const theirs = claim("pv-2", { ...BOUND, "volume.kubernetes.io/selected-node": "node-2" });
  const pending = claim(undefined, {});
  for (const replaced of [
    replacing("PersistentVolumeClaim", bound, theirs),
    replacingEncoded("PersistentVolumeClaim", new JsonBody(bound), theirs).view,
  ]) {
    expect(textAt(replaced, ["spec", "volumeName"])).toBe("pv-2");
    expect(at(replaced, ["metadata", "annotations"])).toEqual({
      ...{ ...BOUND, team: "shop" },
      "volume.kubernetes.io/selected-node": "node-2",
    });
  }
  expect(replacing("PersistentVolumeClaim", bound, pending)).toEqual(claim(undefined, { team: "shop" }));
});
