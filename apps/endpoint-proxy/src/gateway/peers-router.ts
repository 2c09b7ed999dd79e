import type { Destination } from "@evenkeel/forward";
import type { Members } from "../members/member.ts";
import type { PeerAuthenticator } from "./authentication/peer-authenticator.ts";
import { Loop, OnlyScores } from "./errors.ts";
import { forwardTo, type GatewayDeadlines } from "./forwarding.ts";
import { checkForgery, type GatewayRequest, type GatewayRequestOptions } from "./gateway-request.ts";
import { GatewayRouter } from "./gateway-router.ts";
import { clusterPath } from "./kube-path.ts";
import { answerUnmeasured } from "./owned-answer.ts";
import { type GatewayAccess, PASSED } from "./reach/member-access.ts";
import type { MemberConnections } from "./reach/member-connections.ts";
import { readsScores } from "./reach/reads-scores.ts";
import { RequestRefused } from "./request-refused.ts";

export interface PeersRouterOptions extends GatewayRequestOptions {
  readonly authenticator: Pick<PeerAuthenticator, "authenticate">;
  readonly members: Pick<Members, "own">;
  readonly access: Pick<GatewayAccess, "own">;
  readonly connections: MemberConnections;
  readonly deadlines: GatewayDeadlines;
  /** The uid of the own cluster; undefined while it is unknown. */
  readonly clusterUid: () => string | undefined;
}

/** The port for peers: everything goes to the own cluster, and never further. */
export class PeersRouter extends GatewayRouter<PeersRouterOptions> {
  protected override async destination(request: GatewayRequest): Promise<Destination> {
    const { authenticator, access, members, clusterUid, deadlines, connections } = this.options;
    const { exchange } = request;
    const caller = authenticator.authenticate(exchange);
    request.caller = caller;
    checkForgery(exchange, caller.peer === undefined ? ["authorization"] : ["x-remote-", "evenkeel-"]);
    const from = exchange.header(PASSED);
    if (from !== undefined && from === clusterUid()) {
      throw new RequestRefused(508, new Loop({ fault: "it comes from this cluster itself" }));
    }
    if (clusterPath(exchange.path)) {
      throw new RequestRefused(508, new Loop({ fault: "peers are asked for their own cluster only" }));
    }
    request.read(exchange.path);
    if (caller.onlyScores && !readsScores(exchange.method, request.path)) {
      throw new RequestRefused(403, new OnlyScores({}));
    }
    request.enter();
    request.members = [members.own()?.name ?? ""];
    const reach = await access.own(caller.identity);
    if (request.isUnmeasured && !request.hasOwnBodyRules) {
      return answerUnmeasured(request, reach, { connections, deadlines });
    }
    return forwardTo(request, reach, deadlines);
  }
}
