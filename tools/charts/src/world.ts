// The embedded world of docker-compose.yml: a cluster, and around it what each service's story needs. Writes the
// kubeconfig where it is told.
import { renameSync, writeFileSync } from "node:fs";
import { harbourKubeconfig, loadStories, startHarbour } from "@evenkeel/demo";
import { waitUntil } from "@evenkeel/control-plane";
import { connectKube, customResourceDefinitions } from "@evenkeel/kube";

const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error("usage: node tools/charts/src/world.ts <kubeconfig>");
  process.exit(2);
}

const harbour = await startHarbour();
const draft = `${file}.part`;
// Services read it under another user.
writeFileSync(draft, harbourKubeconfig(harbour.url), { mode: 0o644 });
const settings = { kubeContext: undefined, kubeDeadline: 5000, kubeConnections: 4, kubeQps: 0, kubeBurst: 100 };
const kube = connectKube({ settings: { ...settings, kubeconfig: draft }, env: {}, userAgent: "world" });
const stories = await loadStories();
const scenes = await Promise.all(
  stories.map((story) => story.open({ kube, harbour, tell: (line) => console.log(line) })),
);
async function whyNotServed(): Promise<string | undefined> {
  const { items } = await kube.resource(customResourceDefinitions).list();
  const served = items.filter(({ status }) =>
    status?.conditions?.some(({ type, status: holds }) => type === "Established" && holds === "True"),
  );
  return served.length === items.length ? undefined : `${served.length} of ${items.length} are`;
}
await waitUntil("every kind to be served", whyNotServed, { deadlineMs: 30_000, everyMs: 50 });
const ends = scenes.map((scene) => scene.play());
// It is there only when the world is whole.
renameSync(draft, file);
console.log(`the world is at ${harbour.url}`);

const stopping = Promise.withResolvers<undefined>();
process.on("SIGINT", () => stopping.resolve(undefined)).on("SIGTERM", () => stopping.resolve(undefined));
await stopping.promise;
for (const end of ends) end();
for (const scene of scenes) await scene[Symbol.asyncDispose]();
await kube.stop();
await harbour.stop();
