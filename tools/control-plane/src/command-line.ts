import { parseArgs } from "node:util";
import { buildBinaries, buildNodeBinaries } from "./build.ts";
import { openCluster } from "./cluster-access.ts";
import type { ClusterOptions } from "./cluster-options.ts";
import { ControlPlaneError, messageOf } from "./errors.ts";
import { type Folders, runsFolder } from "./folders.ts";
import { placesOf } from "./node/places.ts";
import { BINARIES, type Binary, CLUSTER_BINARIES } from "./pins.ts";
import { type FoundRun, RunFolder } from "./run-folder.ts";
import { reportRun } from "./run-report.ts";
import { findKept, startCluster } from "./start.ts";
import { endRun, sweepStaleRuns } from "./sweep.ts";

const DEFAULT_NAME = "evenkeel";

/** Uses the workspace's Node, because the machine's may be older. */
const PROGRAM = "node_modules/.bin/node tools/control-plane/src/main.ts";

const HELP = `A real Kubernetes control plane on this machine: etcd, kube-apiserver, kube-controller-manager and kube-scheduler, with
certificates and RBAC, and either KWOK nodes, which run nothing, or one real node (root, Linux).

Usage: ${PROGRAM} <verb> [options]

  build [--all | --binaries a,b]   build what is missing: the programs of a cluster, all with those of a real node, or those named
                                   (${BINARIES.join(", ")})
  start [options]                  start a cluster that stays until it is stopped
      --name <name>                default evenkeel
      --node <kwok | real>         default kwok; real has a kubelet, containers and kube-proxy
      --nodes <count>              KWOK nodes, default 3
      --audit                      write an audit log
      --feature-gates A=true,B=false
      --apiserver-flag=--x=y       one more flag of kube-apiserver; may be given several times
      --apiserver-port <port>      default: a free one
  load <archive>...                load images into the real node of a running cluster
      --name <name>                default evenkeel
  stop [name | id | --all]         stop the cluster of that name (default evenkeel) or id, or every kept one, and clean up
                                   what is left of clusters after their owner exited
  status [--all]                   running clusters with the memory of each component; --all shows ended ones too
  sweep                            end the processes of clusters after their owner exited

Exit code: 0 done, 1 failed, 2 wrong usage. \`start\` writes only shell commands to standard output, so that
eval "$(${PROGRAM} start)" sets KUBECONFIG and PATH.`;

/** Wrong usage of the command line, as opposed to a failure. */
class UsageError extends Error {}

/** The environment of one call. */
export interface CommandContext {
  readonly folders: Folders;
  /** Prints a line of the result, for scripts. */
  readonly print: (line: string) => void;
  /** Prints a line for the user. */
  readonly say: (line: string) => void;
}

interface Verb {
  readonly options: NonNullable<Parameters<typeof parseArgs>[0]>["options"];
  readonly run: (values: Values, words: readonly string[], context: CommandContext) => Promise<void> | undefined;
}

type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

const VERBS: Readonly<Record<string, Verb>> = {
  build: { options: { all: { type: "boolean" }, binaries: { type: "string" } }, run: build },
  start: {
    options: {
      name: { type: "string" },
      node: { type: "string" },
      nodes: { type: "string" },
      audit: { type: "boolean" },
      "feature-gates": { type: "string" },
      "apiserver-flag": { type: "string", multiple: true },
      "apiserver-port": { type: "string" },
    },
    run: start,
  },
  load: { options: { name: { type: "string" } }, run: load },
  stop: { options: { all: { type: "boolean" } }, run: stop },
  status: { options: { all: { type: "boolean" } }, run: status },
  sweep: { options: {}, run: sweep },
};

async function build(values: Values, words: readonly string[], { folders, print, say }: CommandContext): Promise<void> {
  refuseWords(words, 0);
  const named = text(values, "binaries")?.split(",").map(binaryNamed);
  const binaries = named ?? (values["all"] === true ? BINARIES : CLUSTER_BINARIES);
  const { bin } = await buildBinaries({ binaries, folders, progress: say });
  print(bin);
  // A kubelet only runs on Linux.
  if (values["all"] === true && process.platform === "linux") {
    print((await buildNodeBinaries({ folders, progress: say })).bin);
  }
}

async function start(values: Values, words: readonly string[], { folders, print, say }: CommandContext): Promise<void> {
  refuseWords(words, 0);
  const name = text(values, "name") ?? DEFAULT_NAME;
  const node = nodeKind(text(values, "node"));
  const nodes = count(values, "nodes");
  const apiserverPort = count(values, "apiserver-port");
  const options: ClusterOptions = {
    ...{ name, node, folders, keep: true, progress: say, audit: values["audit"] === true },
    ...{ apiserverFlags: texts(values, "apiserver-flag"), featureGates: gates(text(values, "feature-gates")) },
    ...(nodes === undefined ? {} : { nodes }),
    ...(apiserverPort === undefined ? {} : { apiserverPort }),
  };
  try {
    await startCluster(options);
  } catch (error) {
    if (!(error instanceof ControlPlaneError) || error.code !== "EK_CLUSTER_NAME_TAKEN") throw error;
    say(`cluster ${name} is already running; the options of this call are ignored`);
    const runsReal = openCluster(name, folders)?.hasRealNode === true;
    if (runsReal !== (node === "real"))
      throw new ControlPlaneError(
        error.code,
        `it has ${runsReal ? "a real node" : "KWOK nodes"}; stop it first with: ${PROGRAM} stop ${name}`,
      );
  }
  const run = findKept(runsFolder(folders), name);
  if (run === undefined)
    throw new Error(`cluster ${name} stopped right after its start; see the logs in ${runsFolder(folders)}`);
  say(`${run.record.nodes} nodes at ${run.record.server}, logs in ${run.folder.logs}`);
  if (run.record.realNode !== null) say(`the node's network: nsenter --net=${placesOf(run.folder.id).netns} <command>`);
  say(`kubectl is ${run.record.bin}/kubectl; stop the cluster with: ${PROGRAM} stop ${name}`);
  print(`export KUBECONFIG=${run.folder.kubeconfig}`);
  print(`export PATH=${run.record.bin}:$PATH`);
}

async function load(values: Values, archives: readonly string[], { folders, say }: CommandContext): Promise<void> {
  if (archives.length === 0) throw new UsageError("name the archives of the images to load");
  const name = text(values, "name") ?? DEFAULT_NAME;
  const cluster = openCluster(name, folders);
  if (cluster === undefined)
    throw new ControlPlaneError(
      "EK_CLUSTER_OPTION",
      `no cluster ${name} is running; start it with: make cluster NODE=real`,
    );
  for (const archive of archives) {
    await cluster.loadImage(archive);
    say(`loaded ${archive}`);
  }
}

async function stop(values: Values, words: readonly string[], { folders, say }: CommandContext): Promise<void> {
  refuseWords(words, values["all"] === true ? 0 : 1);
  const running = RunFolder.list(runsFolder(folders)).filter(({ state }) => state === "running");
  const name = words[0] ?? DEFAULT_NAME;
  const isMeant = ({ folder, record }: FoundRun): boolean =>
    values["all"] === true ? record.owner === null : record.name === name || folder.id === name;
  const meant = running.filter(isMeant);
  if (meant.length === 0) say(values["all"] === true ? "no kept cluster is running" : `no cluster ${name} is running`);
  for (const run of meant) {
    const { id, ended } = await endRun(run);
    say(`stopped ${id}: ${ended.length} processes ended, logs in ${run.folder.logs}`);
  }
  await reportSweep(folders, say);
}

/** Cleans up after owners that have exited. Returns the number of clusters. */
async function reportSweep(folders: Folders, say: (line: string) => void): Promise<number> {
  const swept = await sweepStaleRuns(folders);
  for (const { id, ended } of swept) say(`cleaned up ${id}: ${ended.length} processes ended`);
  return swept.length;
}

function status(values: Values, words: readonly string[], { folders, print, say }: CommandContext): undefined {
  refuseWords(words, 0);
  const runs = RunFolder.list(runsFolder(folders)).filter(({ state }) => values["all"] === true || state !== "ended");
  if (runs.length === 0) say("no cluster is running");
  for (const line of runs.flatMap((run) => reportRun(run))) print(line);
}

async function sweep(_: Values, words: readonly string[], { folders, say }: CommandContext): Promise<void> {
  refuseWords(words, 0);
  if ((await reportSweep(folders, say)) === 0) say("nothing to clean up");
}

function refuseWords(words: readonly string[], allowed: number): void {
  if (words.length > allowed) throw new UsageError(`unexpected argument "${words[allowed] ?? ""}"`);
}

function text(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
}

function texts(values: Values, name: string): string[] {
  const value = values[name];
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
}

function count(values: Values, name: string): number | undefined {
  const value = text(values, name);
  if (value !== undefined && !/^\d+$/.test(value))
    throw new UsageError(`--${name} must be a whole number, not "${value}"`);
  return value === undefined ? undefined : Number(value);
}

function nodeKind(value = "kwok"): "kwok" | "real" {
  if (value !== "kwok" && value !== "real") throw new UsageError(`--node must be kwok or real, not "${value}"`);
  return value;
}

function gates(value: string | undefined): Record<string, boolean> {
  const parsed: Record<string, boolean> = {};
  for (const gate of value?.split(",") ?? []) {
    const [, name, on] = /^(\w+)=(true|false)$/.exec(gate) ?? [];
    if (name === undefined) throw new UsageError(`--feature-gates takes Name=true or Name=false, not "${gate}"`);
    parsed[name] = on === "true";
  }
  return parsed;
}

function binaryNamed(name: string): Binary {
  const binary = BINARIES.find((known) => known === name);
  if (binary === undefined) throw new UsageError(`unknown binary "${name}"; known are ${BINARIES.join(", ")}`);
  return binary;
}

/** Runs one command line, without the program's name, and resolves with its exit code. */
export async function runCommandLine(args: readonly string[], context: CommandContext): Promise<number> {
  const { print, say } = context;
  const [name = "", ...rest] = args;
  if (["help", "--help", "-h"].includes(name) || rest.includes("--help")) {
    print(HELP);
    return 0;
  }
  try {
    const verb = VERBS[name];
    if (verb === undefined) throw new UsageError(name === "" ? "a verb is missing" : `unknown verb "${name}"`);
    const { values, positionals } = parseArguments(rest, verb);
    await verb.run(values, positionals, context);
    return 0;
  } catch (error) {
    if (error instanceof UsageError || (error instanceof ControlPlaneError && error.code === "EK_CLUSTER_OPTION")) {
      say(`${error.message}\nSee ${PROGRAM} --help`);
      return 2;
    }
    say(error instanceof ControlPlaneError ? error.message : String(error instanceof Error ? error.stack : error));
    return 1;
  }
}

function parseArguments(args: string[], { options = {} }: Verb): { values: Values; positionals: string[] } {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}
