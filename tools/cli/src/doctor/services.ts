import { samplesOf } from "../exposition.ts";
import { Refused, Unanswered } from "../errors.ts";
import type { MissedService, ReachedService, Services } from "../reach/reach.ts";
import { spanText } from "../show/words.ts";
import { type Finding, unanswered } from "./finding.ts";
import { ADMIN_PORT_VALUES } from "./network.ts";

/** Whether each service answers, and what it reports about itself. */
export async function checkServices({ reached, missed }: Services): Promise<readonly Finding[]> {
  const inside = await Promise.all(reached.map(checkMetrics));
  return [...missed.map(absence), ...reached.flatMap(presence), ...inside.flat()];
}

function absence({ name, error, installed, servicePlace }: MissedService): Finding {
  if (!installed) return unanswered("services", "warn", `${name} is not installed`, error);
  const what = `${name} does not answer`;
  if (servicePlace === undefined) return unanswered("services", "fail", what, error);
  const { namespace, service, scheme = "http" } = servicePlace;
  const forward = `kubectl port-forward -n ${namespace} service/${service} 8080, then --address=${scheme}://localhost:8080`;
  if (error instanceof Refused && error.status === 401) {
    // The API server does not forward the user's token.
    const fix = `It needs a token to read, which does not pass through the API server. Connect with ${forward} --token-file=<file>.`;
    return unanswered("services", "fail", what, error, fix);
  }
  if (!(error instanceof Unanswered)) return unanswered("services", "fail", what, error);
  const fix =
    `Check its pods: kubectl get pods -n ${namespace} -l app.kubernetes.io/name=${service}. If they are ready, ` +
    `the NetworkPolicy may block the API server (${ADMIN_PORT_VALUES}). Or connect with ${forward}.`;
  return unanswered("services", "fail", what, error, fix);
}

function presence({ name, status, client }: ReachedService): readonly Finding[] {
  const { version, uptime, unready } = status;
  const message = `${name} ${version} answers at ${client.place}, up ${spanText(uptime)}`;
  const reasons = unready.map(({ name: part, reason }): Finding => ({
    area: "services",
    verdict: "fail",
    message: `${name} is not ready: ${part}: ${reason}`,
    fix: "It becomes ready when the cause is gone. The log of the service has details.",
  }));
  return [{ area: "services", verdict: "ok", message }, ...reasons];
}

async function checkMetrics({ name, client }: ReachedService): Promise<readonly Finding[]> {
  let text: string;
  try {
    text = await client.text("/metrics", {}, "text/plain");
  } catch (error) {
    return [unanswered("metrics", "fail", `/metrics of ${name} does not answer`, error)];
  }
  const builds = samplesOf(text, "evenkeel_build_info");
  if (builds.length === 0) {
    const message = `/metrics of ${name} has no evenkeel_build_info`;
    const fix = "Another program answers at this address. Check the selector of the Service.";
    return [{ area: "metrics", verdict: "fail", message, fix }];
  }
  const samples = text.split("\n").filter((line) => line !== "" && !line.startsWith("#")).length;
  const metrics: Finding = {
    area: "metrics",
    verdict: "ok",
    message: `/metrics of ${name} has ${samples} samples`,
  };
  return [metrics, ...checkPeers(name, text), checkState(name, text)];
}

function checkPeers(name: string, text: string): readonly Finding[] {
  return samplesOf(text, "evenkeel_peer_up").map(({ labels, value }) => {
    const peer = labels["peer"] ?? "unknown";
    if (value === 1) return { area: "peers", verdict: "ok", message: `${name} is connected to ${peer}` };
    const fix = `${name} works without it. Check that ${peer} runs, that its gRPC port (9090) is open to ${name}, and that both certificates have the same CA.`;
    return { area: "peers", verdict: "warn", message: `${name} is not connected to ${peer}`, fix };
  });
}

function checkState(name: string, text: string): Finding {
  const [available] = samplesOf(text, "evenkeel_state_available");
  if (available === undefined) return { area: "state", verdict: "ok", message: `${name} has no shared state` };
  if (available.value === 1) return { area: "state", verdict: "ok", message: `the state of ${name} is available` };
  const fix =
    "Until it is back, the service works from memory and does nothing irreversible. Check Redis, or the disk of the SQLite file (EVENKEEL_STATE).";
  return { area: "state", verdict: "fail", message: `the state of ${name} is not available`, fix };
}

/** Whether all services have the same version as this program. */
export function checkVersions(reached: readonly ReachedService[], own: string): readonly Finding[] {
  const versions = new Set(reached.map(({ status }) => status.version));
  if (versions.size === 0) return [];
  if (versions.size > 1) {
    const each = reached.map(({ name, status }) => `${name} ${status.version}`).join(", ");
    const fix = "During a rollout this is normal. Otherwise upgrade the whole release: helm upgrade.";
    return [{ area: "versions", verdict: "warn", message: `the services have different versions: ${each}`, fix }];
  }
  const [version = ""] = versions;
  if (version === own)
    return [{ area: "versions", verdict: "ok", message: `all services and this program have version ${own}` }];
  const message = `the services have version ${version}, this program has ${own}`;
  const fix = `Use kubectl-evenkeel ${version}. Otherwise replay may give another decision than the service.`;
  return [{ area: "versions", verdict: "warn", message, fix }];
}
