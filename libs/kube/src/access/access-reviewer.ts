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

/** `user` is absent if the token is not valid. */
export type Review =
  | { readonly allowed: true; readonly user: string }
  | { readonly allowed: false; readonly user?: undefined }
  | { readonly allowed: false; readonly user: string };

/**
 * Asks the API server for the user of a token (TokenReview), and whether the user may do something
 * (SubjectAccessReview). It needs the right to create both, which the role `system:auth-delegator` grants.
 */
export class AccessReviewer {
  readonly #kube: Pick<KubeClient, "resource">;

  constructor(kube: Pick<KubeClient, "resource">) {
    this.#kube = kube;
  }

  /** Rejects if the API server does not respond: nothing is allowed by default. */
  async authorize(token: string, verb: string, object: ReviewedObject, signal: AbortSignal): Promise<Review> {
    const reviewed = await this.#kube.resource(tokenReviews).create({ metadata: {}, spec: { token } }, { signal });
    const { authenticated = false, user: { username = "", uid, groups, extra } = {} } = reviewed.status ?? {};
    if (!authenticated || username === "") return { allowed: false };
    const identity = { user: username, ...(uid && { uid }), ...(groups && { groups }), ...(extra && { extra }) };
    const spec = { ...identity, resourceAttributes: { ...object, verb } };
    const answer = await this.#kube.resource(subjectAccessReviews).create({ metadata: {}, spec }, { signal });
    return { allowed: answer.status?.allowed === true, user: username };
  }
}
