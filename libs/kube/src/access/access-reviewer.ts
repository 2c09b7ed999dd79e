import type { KubeClient } from "../wire/client.ts";
import { subjectAccessReviews, tokenReviews } from "../objects/resource-types.ts";

/** The object of a request, as RBAC names it. */
export interface ReviewedObject {
  /** Empty for the core group. */
  readonly group: string;
  /** In the plural. */
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** A user as the API server knows it. Only the user's name is always there. */
export interface UserInfo {
  readonly user: string;
  readonly uid: string | undefined;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** `user` is absent if the token is not valid. */
export type Review =
  | { readonly allowed: true; readonly user: string }
  | { readonly allowed: false; readonly user?: undefined }
  | { readonly allowed: false; readonly user: string };

/** Whether a user may do something. `reason` is the authorizer's and may be empty. */
export interface Verdict {
  readonly allowed: boolean;
  readonly reason: string;
}

/**
 * Asks the API server for the user of a token (TokenReview), and whether a user may do something
 * (SubjectAccessReview). It needs the right to create both, which the role `system:auth-delegator` grants. Each call
 * rejects if the API server does not respond: nothing is allowed by default.
 */
export class AccessReviewer {
  readonly #kube: Pick<KubeClient, "resource">;

  constructor(kube: Pick<KubeClient, "resource">) {
    this.#kube = kube;
  }

  /** The user of a token; undefined if the token is not valid. */
  async identify(token: string, signal: AbortSignal): Promise<UserInfo | undefined> {
    const reviewed = await this.#kube.resource(tokenReviews).create({ metadata: {}, spec: { token } }, { signal });
    const { authenticated = false, user: { username = "", uid, groups = [], extra = {} } = {} } = reviewed.status ?? {};
    if (!authenticated || username === "") return undefined;
    return { user: username, uid: uid === "" ? undefined : uid, groups, extra };
  }

  async allows(who: UserInfo, verb: string, object: ReviewedObject, signal: AbortSignal): Promise<Verdict> {
    const { user, uid, groups, extra } = who;
    const lists = Object.entries(extra).map(([key, values]) => [key, [...values]]);
    const spec = {
      ...{ user, groups: [...groups], extra: Object.fromEntries(lists) as Record<string, string[]> },
      ...(uid === undefined ? {} : { uid }),
      resourceAttributes: { ...object, verb },
    };
    const { status } = await this.#kube.resource(subjectAccessReviews).create({ metadata: {}, spec }, { signal });
    return { allowed: status?.allowed === true, reason: status?.reason ?? "" };
  }

  async authorize(token: string, verb: string, object: ReviewedObject, signal: AbortSignal): Promise<Review> {
    const who = await this.identify(token, signal);
    if (who === undefined) return { allowed: false };
    const { allowed } = await this.allows(who, verb, object, signal);
    return { allowed, user: who.user };
  }
}
