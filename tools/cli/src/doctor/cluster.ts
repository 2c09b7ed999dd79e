import type { KubeClient } from "@evenkeel/kube";
import { type Finding, unanswered } from "./finding.ts";

/** The oldest Kubernetes that the services support. */
const OLDEST = { major: 1, minor: 31 };

/** Whether the API server answers and is new enough. */
export async function checkCluster(kube: Pick<KubeClient, "version">): Promise<Finding> {
  try {
    const { major, minor, text } = await kube.version();
    if (major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)) {
      return { area: "cluster", verdict: "ok", message: `Kubernetes ${text} answers` };
    }
    const needed = `${OLDEST.major}.${OLDEST.minor}`;
    const fix = `Upgrade the cluster to Kubernetes ${needed} or later.`;
    return { area: "cluster", verdict: "fail", message: `Kubernetes ${text} is older than ${needed}`, fix };
  } catch (error) {
    return unanswered("cluster", "fail", "the API server does not answer", error);
  }
}
