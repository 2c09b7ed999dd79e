import type { Route53Client, Route53ClientConfig } from "@aws-sdk/client-route-53";
import { type Clock, withDeadline } from "@evenkeel/runtime";
import { Route53Denied, Route53Refused } from "../../errors.ts";
import type { AwsConnections } from "./aws-connections.ts";
import type { AccessKey, AssumedRole, AwsIdentity } from "./aws-identity.ts";
import { limitResponses } from "./response-limit.ts";
import { route53Fault } from "./route53-fault.ts";

export interface AwsSessionOptions {
  readonly identity: AwsIdentity;
  readonly connections: AwsConnections;
  readonly clock: Clock;
  /** Milliseconds that taking a role may last. */
  readonly deadline: number;
  /** Address of STS; default: that of AWS. */
  readonly stsEndpoint: string | undefined;
}

/** Milliseconds before its expiry at which a role is assumed again. */
const AHEAD_OF_EXPIRY = 300_000;

/**
 * Limits of a role's lifetime in milliseconds: AWS allows no less than the first and by default no more than the
 * second. The expiry in a response is clamped to them, so that a wrong wall clock does no harm.
 */
const SHORTEST_ROLE = 900_000;
const LONGEST_ROLE = 3_600_000;

interface TakenRole {
  readonly client: Route53Client;
  /** When the role is assumed again, by the monotonic clock. */
  readonly renewAt: number;
}

/**
 * The Route 53 client of one identity. A role is taken when it is first needed and again before it expires; callers
 * meanwhile wait for the same answer. Without a role the client stays the same, and the SDK renews what it finds in the
 * environment.
 */
export class AwsSession {
  readonly #options: AwsSessionOptions;
  #own: Promise<Route53Client> | undefined;
  #role: TakenRole | undefined;
  #taking: Promise<TakenRole> | undefined;

  constructor(options: AwsSessionOptions) {
    this.#options = options;
  }

  /** Rejects with a coded error that names `zone` when the role cannot be taken. */
  async client(zone: string): Promise<Route53Client> {
    const { identity, clock } = this.#options;
    const { role, key } = identity;
    if (role === undefined) return (this.#own ??= this.#connect(key));
    if (this.#role === undefined || clock.monotonic() >= this.#role.renewAt) {
      this.#taking ??= this.#take(role, zone).finally(() => (this.#taking = undefined));
      this.#role = await this.#taking;
    }
    return this.#role.client;
  }

  /** The credentials are no longer accepted. */
  expire(): void {
    this.#role = undefined;
  }

  async #connect(credentials: AccessKey | undefined): Promise<Route53Client> {
    const { endpoint } = this.#options.identity;
    const { Route53Client } = await import("./aws-sdk.ts");
    const client = new Route53Client({ ...this.#config(credentials), ...(endpoint !== undefined && { endpoint }) });
    limitResponses(client);
    return client;
  }

  #config(credentials: AccessKey | undefined) {
    const { identity, connections } = this.#options;
    return {
      region: identity.region,
      // This program retries itself, because it must check before each call whether it may still act.
      maxAttempts: 1,
      requestHandler: connections.requestHandler,
      ...(credentials && { credentials }),
    } satisfies Route53ClientConfig;
  }

  async #take({ roleARN, externalID, sessionName = "evenkeel" }: AssumedRole, zone: string): Promise<TakenRole> {
    const { identity, clock, deadline, stsEndpoint } = this.#options;
    const { AssumeRoleCommand, STSClient } = await import("./aws-sdk.ts");
    const sts = new STSClient({ ...this.#config(identity.key), ...(stsEndpoint && { endpoint: stsEndpoint }) });
    const command = new AssumeRoleCommand({
      RoleArn: roleARN,
      RoleSessionName: sessionName,
      ...(externalID !== undefined && { ExternalId: externalID }),
    });
    const limit = { clock, milliseconds: deadline, what: `role ${roleARN}` };
    try {
      const { Credentials } = await withDeadline(limit, (abortSignal) => sts.send(command, { abortSignal }));
      const { AccessKeyId = "", SecretAccessKey = "", SessionToken = "", Expiration } = Credentials ?? {};
      const key = { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken };
      const told = (Expiration?.getTime() ?? 0) - clock.now();
      const lasts = Math.min(Math.max(told, SHORTEST_ROLE), LONGEST_ROLE);
      return { client: await this.#connect(key), renewAt: clock.monotonic() + lasts - AHEAD_OF_EXPIRY };
    } catch (thrown) {
      const error = route53Fault(thrown, zone);
      const denied = [Route53Denied.entry.code, Route53Refused.entry.code] as readonly string[];
      if (!denied.includes(error.code)) throw error;
      throw new Route53Denied({ zone, fault: `the role ${roleARN} cannot be assumed` }, { cause: error });
    }
  }
}
