/** What a caller wants to change, as RBAC names it. */
export interface AccessObject {
  /** Empty for the core group. */
  readonly group: string;
  /** In the plural, such as `elastiservices`. */
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

export type Authorization =
  | { readonly allowed: true; readonly user: string }
  /** The token belongs to no user. */
  | { readonly allowed: false; readonly user?: undefined }
  /** The token belongs to `user`, which does not have the right. */
  | { readonly allowed: false; readonly user: string };

/**
 * Says whether the holder of a token may do something: TokenReview, then SubjectAccessReview. It rejects when it cannot
 * tell, and nothing is done then.
 */
export interface Authorizer {
  authorize(token: string, verb: string, object: AccessObject, signal: AbortSignal): Promise<Authorization>;
}

/** `elastiservices.elasti.truefoundry.com shop/checkout`. */
export function accessText({ group, resource, subresource, namespace, name }: AccessObject): string {
  const what = [subresource === undefined ? resource : `${resource}/${subresource}`, group].filter(Boolean).join(".");
  return [what, [namespace, name].filter(Boolean).join("/")].filter(Boolean).join(" ");
}
