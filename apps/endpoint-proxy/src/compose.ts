import { ForeignLease, leases, PAUSED, secrets, ServiceAccountToken, specChanges, StatusWriter } from "@evenkeel/kube";
import { ObjectBoard, operatorFrame } from "@evenkeel/operator";
import type { Environment, Service } from "@evenkeel/runtime";
import { OwnClusterScore } from "./act/own-cluster-score.ts";
import { isWarning } from "./act/status.ts";
import { clusterScores, COST } from "./cluster-score-resource.ts";
import type { endpointProxy } from "./definition.ts";
import { gateway } from "./gateway/gateway.ts";
import { StoredLayouts } from "./members/stored-layouts.ts";
import { StoredMembers } from "./members/stored-members.ts";
import { ClusterIdentity } from "./observe/cluster-identity.ts";
import { ClusterNodes } from "./observe/cluster-nodes.ts";
import { ClusterReader } from "./observe/cluster-reader.ts";
import { Observer } from "./observe/observer.ts";
import { PeerScores } from "./observe/peer-scores.ts";
import { secretCredentials } from "./observe/wao/basic-auth-secret.ts";
import { JsonServers } from "./observe/wao/json-servers.ts";
import { Predictor } from "./observe/wao/predictor.ts";
import { Watts } from "./observe/wao/watts.ts";
import { ScoreReconciler } from "./reconciler.ts";
import { placementsService } from "./serve/placements-service.ts";
import { type ScoreBoard, scoreView } from "./serve/score-view.ts";
import { scoresService } from "./serve/scores-service.ts";
import { BegunWrites } from "./writes/begun-writes.ts";
import { MemberAnswers } from "./writes/member-answers.ts";
import type { AnswersOptions } from "./writes/options.ts";
import { PlacedSince } from "./writes/placed-since.ts";
import { recordedSplits } from "./writes/recorded-splits.ts";

type EndpointProxy = Service<
  (typeof endpointProxy)["settings"],
  (typeof endpointProxy)["metrics"],
  (typeof endpointProxy)["decider"]
>;

/** Intervals after which a score is too old. */
const INTERVALS = 3;

/** Calls in turn to a member that a write may take, each within its deadline. */
const WRITE_CALLS = 12;

/** Milliseconds that a member has for a write at least: webhooks may take 30 s, and those that fail may be ignored. */
const WRITE_DEADLINE = 35_000;

/** Part of an interval in which a reading must be complete, so that the next one starts on time. */
const DEADLINE_SHARE = 0.8;

/** The parts of endpoint-proxy, in the order in which they start. `main` is the URL of the program that runs it. */
export function composeEndpointProxy(service: EndpointProxy, env: Environment, main: string): void {
  const { settings, clock, log, registry, metrics, decisions } = service;
  const frame = operatorFrame(service, { env, main });
  const { kube } = frame;
  const { fetchInterval: interval, dryRun } = settings;
  const [namespace = settings.leaseNamespace] = settings.watchNamespaces;
  const limit = INTERVALS * interval;
  const resource = kube.resource(clusterScores);

  // The world: clusters, the nodes of the own one, and the original that must not act at the same time.
  const store = frame.reflect(clusterScores);
  const members = new StoredMembers({ store, clock, namespace, limit, ownLabel: settings.labelValueMyDomain });
  const nodes = new ClusterNodes(frame.reflect.bind(frame));
  const identity = frame.use(new ClusterIdentity(kube));
  const listeners = gateway({
    ...{ settings, kube, members, clock, log, registry, metrics },
    impersonator: new ServiceAccountToken({
      ...{ kube, clock, log },
      account: { namespace: settings.leaseNamespace, name: settings.impersonator },
      renewal: settings.impersonatorRenewal,
    }),
    clusterUid: () => identity.known,
    reflect: frame.reflect.bind(frame),
    use: (component) => void service.use(component),
    open: (server) => void service.open(server),
  });
  const original = new ForeignLease({ leases: kube.resource(leases), name: settings.originalLease, clock, log });
  const servers = frame.use(new JsonServers({ insecure: settings.predictorInsecure }));
  const credentials = secretCredentials(kube.resource(secrets));
  const predictor = new Predictor({ servers, credentials, predictions: metrics.predictions, clock });
  const peers = new PeerScores({
    ...{ client: listeners.client, clock, member: (name) => members.get(name) },
    deadline: Math.min(settings.memberDeadline, DEADLINE_SHARE * interval),
  });
  const observer = new Observer({
    cluster: new ClusterReader({
      ...{ nodes, kube, namespace, source: settings.scoreSource, deadline: DEADLINE_SHARE * interval },
      watts: new Watts({ kube, predictor, nodeFaults: metrics.nodeFaults, clock }),
    }),
    peers,
    objects: () => store.values(),
    ...{ identity, original, clock, limit },
  });

  // Scores, on the leader alone.
  const told = frame.announce({ isWarning });
  const board: ScoreBoard = new ObjectBoard({ store, view: scoreView((name) => members.get(name)) });
  const own = new OwnClusterScore({
    ...{ resource, store, nodes, identity, original, namespace, dryRun, clock, log },
    clusterName: settings.clusterName,
    endpoint: settings.ownEndpoint?.href ?? apiServer(env),
  });
  service.leadEvery("own ClusterScore", interval, (term) => own.keep(term));
  frame.reconcile({
    name: "scores",
    type: clusterScores,
    store,
    sources: [specChanges(store, [PAUSED, COST])],
    board,
    reconciler: new ScoreReconciler({
      ...{ observer, members, own, peers, original, decisions, board, metrics, clock, dryRun, interval },
      clusterScores: resource,
      statuses: new StatusWriter(resource),
    }),
  });

  // The servers.
  const writeDeadline = Math.max(settings.memberDeadline, WRITE_DEADLINE);
  const answers: AnswersOptions = {
    ...{ members, client: listeners.client, clock, dryRun },
    labelKey: settings.labelKey,
    sayPlacement: settings.sayPlacement,
    followReferences: settings.followReferences,
    layouts: new StoredLayouts(() => store.values()),
    placedSince: service.use(new PlacedSince({ streams: frame.state.streams, clock, log, limit })),
    begunWrites: service.use(
      new BegunWrites({
        ...{ streams: frame.state.streams, clock, log, instance: frame.instance },
        patience: WRITE_CALLS * writeDeadline,
      }),
    ),
    deadline: settings.memberDeadline,
    writeDeadline,
    record: recordedSplits(decisions),
  };
  listeners.serve(new MemberAnswers(answers));
  frame.serve(scoresService({ board, resource }));
  frame.serve(placementsService({ answers, decisions: told.source }));
  frame.open();
}

/** Where a pod finds the API server. */
function apiServer({ KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = "443" }: Environment): string {
  return host === undefined
    ? "https://kubernetes.default.svc"
    : `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
