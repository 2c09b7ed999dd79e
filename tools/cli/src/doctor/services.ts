import { samplesOf } from "../exposition.ts";
import type { MissedService, ReachedService, Services } from "../reach/reach.ts";
import { spanText } from "../show/words.ts";
import { type Finding, unanswered } from "./finding.ts";

/** Everything that a service tells of itself. */
export async function lookAtServices({ reached, missed }: Services): Promise<readonly Finding[]> {
  const inside = await Promise.all(reached.map(lookInside));
  return [...missed.map(absence), ...reached.flatMap(presence), ...inside.flat()];
}

function absence({ name, error, installed }: MissedService): Finding {
  const verdict = installed ? "fail" : "warn";
  return unanswered("services", verdict, `${name} ${installed ? "does not answer" : "is not installed"}`, error);
}

function presence({ name, status, client }: ReachedService): readonly Finding[] {
  const { version, uptime, unready } = status;
  const here = `${name} ${version} answers at ${client.place}, up ${spanText(uptime)}`;
  const reasons = unready.map(({ name: part, reason }): Finding => ({
    area: "services",
    verdict: "fail",
    message: `${name} is not ready: ${part}: ${reason}`,
    fix: "It gets ready by itself once the cause is gone; the service's log says more.",
  }));
  return [{ area: "services", verdict: "ok", message: here }, ...reasons];
}

async function lookInside({ name, client }: ReachedService): Promise<readonly Finding[]> {
  let text: string;
  try {
    text = await client.text("/metrics", {}, "text/plain");
  } catch (error) {
    return [unanswered("metrics", "fail", `/metrics of ${name} does not answer`, error)];
  }
  const builds = samplesOf(text, "evenkeel_build_info");
  if (builds.length === 0) {
    const message = `/metrics of ${name} has no evenkeel_build_info`;
    return [
      { area: "metrics", verdict: "fail", message, fix: "Something else answers there; see the Service's selector." },
    ];
  }
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#")).length;
  const metrics: Finding = {
    area: "metrics",
    verdict: "ok",
    message: `/metrics of ${name} answers with ${lines} samples`,
  };
  return [metrics, ...peers(name, text), state(name, text)];
}

function peers(name: string, text: string): readonly Finding[] {
  return samplesOf(text, "evenkeel_peer_up").map(({ labels, value }) => {
    const peer = labels["peer"] ?? "unknown";
    if (value === 1) return { area: "peers", verdict: "ok", message: `${name} is connected to ${peer}` };
    const fix = `${name} goes on without it. Is ${peer} up, is its gRPC port (9090) open to ${name}, are their certificates of one authority?`;
    return { area: "peers", verdict: "warn", message: `${name} has no connection to ${peer}`, fix };
  });
}

function state(name: string, text: string): Finding {
  const [available] = samplesOf(text, "evenkeel_state_available");
  if (available === undefined) return { area: "state", verdict: "ok", message: `${name} keeps no shared state` };
  if (available.value === 1) return { area: "state", verdict: "ok", message: `the shared state of ${name} answers` };
  const fix =
    "It serves from memory and does nothing irreversible until then. See that Redis, or the disk of the SQLite file, is back (EVENKEEL_STATE).";
  return { area: "state", verdict: "fail", message: `the shared state of ${name} is away`, fix };
}

/** Whether all are of one version, this command line included. */
export function lookAtVersions(reached: readonly ReachedService[], own: string): readonly Finding[] {
  const versions = new Set(reached.map(({ status }) => status.version));
  if (versions.size === 0) return [];
  if (versions.size > 1) {
    const each = reached.map(({ name, status }) => `${name} ${status.version}`).join(", ");
    const fix = "Upgrade the release as a whole: helm upgrade. A rollout that goes on shows the same for a while.";
    return [{ area: "versions", verdict: "warn", message: `services of different versions: ${each}`, fix }];
  }
  const [version = ""] = versions;
  if (version === own)
    return [{ area: "versions", verdict: "ok", message: `all are of version ${own}, this program too` }];
  const message = `the services are of version ${version}, this program of ${own}`;
  return [
    {
      area: "versions",
      verdict: "warn",
      message,
      fix: `Use kubectl-evenkeel ${version}: replay may decide otherwise.`,
    },
  ];
}
