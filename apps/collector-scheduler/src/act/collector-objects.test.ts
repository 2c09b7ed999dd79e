import type { StatefulSet } from "@evenkeel/kube";
import { expect, test } from "@jest/globals";
import { collectorObjects } from "./collector-objects.ts";

const owner = {
  apiVersion: "otel.k8s.aws/v1",
  kind: "CollectorLoadBalancer",
  metadata: { namespace: "default", name: "sample", uid: "u-1" },
} as const;

const settings = {
  ...{ spec: { collectorImage: "collector:1" }, replicas: 1, present: undefined, partition: null },
  ...{ secretFiles: new Map(), ca: undefined },
};

test("a configuration in a variable is the same after the kubelet has replaced $(NAME) and $$ in it", () => {
  const configuration = "new_name: $${1}\nother: ${env:X} $(POD_NAME) $1";
  const { statefulSet } = collectorObjects(owner, { ...settings, configuration });
  const env = statefulSet.spec?.template.spec?.containers[0]?.env ?? [];
  const value = env.find(({ name }) => name === "AOT_CONFIG_CONTENT")?.value ?? "";
  expect(expandedByKubelet(value)).toBe(configuration);
});

test("a rollout waits at each pod, so that a configuration with which collectors exit stops at the first", () => {
  const { statefulSet } = collectorObjects(owner, { ...settings, configuration: "" });
  expect(statefulSet.spec?.minReadySeconds).toBeGreaterThan(0);
});

test("pods have the account that podTemplate names, or one of their own; those of a set taken over keep theirs", () => {
  const made = (present: StatefulSet | undefined, podTemplate?: Record<string, unknown>) =>
    collectorObjects(owner, {
      ...{ ...settings, configuration: "", present },
      spec: { ...settings.spec, ...(podTemplate && { podTemplate }) },
    }).statefulSet;
  const account = ({ spec }: StatefulSet) => spec?.template.spec?.serviceAccountName;
  const named = { spec: { serviceAccountName: "named" } };
  const own = made(undefined);
  expect([own, made(own), made(made(own, named))].map(account)).toEqual(new Array(3).fill("sample-collector"));
  expect(account(made(own, named))).toBe("named");

  // A field that is not applied stays as it is.
  const originals = {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "sample-collector" },
  } as StatefulSet;
  const taken = made(originals);
  expect([taken, made(taken), made(made(taken, named))].map(account)).toEqual([undefined, undefined, undefined]);
  expect(account(made(taken, named))).toBe("named");
});

/** https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#environment-variables */
function expandedByKubelet(text: string): string {
  return text.replaceAll(/\$\$|\$\([A-Za-z_][A-Za-z0-9_]*\)/g, (found) => (found === "$$" ? "$" : "expanded"));
}
