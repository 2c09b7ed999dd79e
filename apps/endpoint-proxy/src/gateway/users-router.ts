import type { Destination } from "@evenkeel/forward";
import type { Member, Members } from "../members/member.ts";
import type { Reach } from "../members/member-client.ts";
import type { Caller, UserAuthenticator } from "./authentication/user-authenticator.ts";
import { Duplicate, Loop, OriginalPeer, UnknownCluster } from "./errors.ts";
import { forwardTo, type GatewayDeadlines } from "./forwarding.ts";
import { checkForgery, type GatewayRequest, type GatewayRequestOptions } from "./gateway-request.ts";
import { GatewayRouter } from "./gateway-router.ts";
import type { Identity } from "./identity.ts";
import { type ClusterPath, clusterPath } from "./kube-path.ts";
import { answerByOwner, answerUnmeasured, Owned } from "./owned-answer.ts";
import type { OwnerAnswers } from "./owner-answers.ts";
import { type GatewayAccess, PASSED } from "./reach/member-access.ts";
import type { MemberConnections } from "./reach/member-connections.ts";
import { readsScores } from "./reach/reads-scores.ts";
import { RequestRefused } from "./request-refused.ts";

export interface UsersRouterOptions extends GatewayRequestOptions {
  readonly authenticator: Pick<UserAuthenticator, "authenticate">;
  readonly members: Pick<Members, "get" | "own">;
  readonly access: Pick<GatewayAccess, "reach" | "own">;
  readonly connections: MemberConnections;
  readonly answers: OwnerAnswers;
  readonly deadlines: GatewayDeadlines;
}

/**
 * The port for users. `/clusters/<name>/…` goes to that member alone. All else is answered by the owner of several
 * members' answers if it wants to, and goes to the own cluster if not.
 */
export class UsersRouter extends GatewayRouter<UsersRouterOptions> {
  protected override destination(request: GatewayRequest): Destination | Promise<Destination> {
    const { exchange } = request;
    if (exchange.header(PASSED) !== undefined) {
      throw new RequestRefused(508, new Loop({ fault: "this is the port for users, not the port for peers" }));
    }
    checkForgery(exchange, ["authorization", "impersonate-"]);
    const named = clusterPath(exchange.path);
    request.read(named?.path ?? exchange.path);
    request.enter();
    const caller = this.options.authenticator.authenticate(exchange);
    if (caller instanceof Promise) return caller.then((known) => this.#for(request, known, named));
    return this.#for(request, caller, named);
  }

  #for(request: GatewayRequest, caller: Caller, named: ClusterPath | undefined): Destination | Promise<Destination> {
    request.caller = caller;
    const { identity } = caller;
    const member = named && this.#member(request, named.cluster);
    if (!member) {
      const owned = new Owned(request, identity);
      const answer = this.options.answers.answer(owned);
      if (answer) return answerByOwner(request, owned, answer, this.options.deadlines);
    }
    return this.#send(request, member, identity);
  }

  #member(request: GatewayRequest, name: string): Member {
    const member = this.options.members.get(name);
    // Not 404: a client would take that for an object that was deleted.
    if (member === undefined) throw new RequestRefused(400, new UnknownCluster({ cluster: name }));
    if (member.standing === "Duplicate") throw new RequestRefused(508, new Duplicate({ cluster: name }));
    if (member.original && !readsScores(request.exchange.method, request.path)) {
      throw new RequestRefused(403, new OriginalPeer({ cluster: name }));
    }
    return member;
  }

  /** To one member; without one to the own cluster, which is there before its ClusterScore is. */
  #send(request: GatewayRequest, member: Member | undefined, identity: Identity): Destination | Promise<Destination> {
    const { access } = this.options;
    request.members = [member?.name ?? this.options.members.own()?.name ?? ""];
    const reach = member ? access.reach(member, identity) : access.own(identity);
    return reach instanceof Promise ? reach.then((known) => this.#by(request, known)) : this.#by(request, reach);
  }

  #by(request: GatewayRequest, reach: Reach): Destination {
    const { deadlines, connections } = this.options;
    if (request.isUnmeasured && !request.hasOwnBodyRules) {
      return answerUnmeasured(request, reach, { connections, deadlines });
    }
    return forwardTo(request, reach, deadlines);
  }
}
