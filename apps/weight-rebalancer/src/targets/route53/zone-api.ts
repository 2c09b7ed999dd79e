import type { ChangeInfo, ResourceRecordSet, Route53Client, RRType } from "@aws-sdk/client-route-53";
import type { Metrics } from "@evenkeel/metrics";
import { type Clock, type CodedError, isRetryable, type TokenBucket, withDeadline } from "@evenkeel/runtime";
import type { metrics } from "../../metrics.ts";
import type * as awsSdk from "./aws-sdk.ts";
import type { AwsSession } from "./aws-session.ts";
import { isExpiry, resultOf, route53Fault } from "./route53-fault.ts";

export type CallCounter = Metrics<typeof metrics>["route53Calls"];

export interface ZoneApiOptions {
  readonly zone: string;
  readonly session: AwsSession;
  /** Shared by all zones of the account. */
  readonly bucket: TokenBucket;
  readonly calls: CallCounter;
  readonly clock: Clock;
  /** Maximum milliseconds of each call. */
  readonly deadline: number;
  /** Ends every call. */
  readonly signal: AbortSignal;
}

/** A place in a zone's list. */
export interface ListStart {
  readonly name: string;
  readonly type?: string | undefined;
  readonly identifier?: string | undefined;
}

export interface RecordPage {
  readonly records: readonly ResourceRecordSet[];
  /** Where the next page begins; undefined on the last. */
  readonly next: ListStart | undefined;
}

/** A record as it was read, and as it is to be. */
export interface Replacement {
  readonly before: ResourceRecordSet;
  readonly after: ResourceRecordSet;
}

type Send<T> = (
  aws: { readonly client: Route53Client; readonly sdk: typeof awsSdk },
  signal: AbortSignal,
) => Promise<T>;

/** The most record sets of one page. */
const PAGE = 300;

/**
 * The calls to one zone. Every failure is a coded error. Each call is counted, has a deadline and uses a token of the
 * account.
 */
export class ZoneApi {
  readonly #options: ZoneApiOptions;
  #trouble: CodedError | undefined;

  constructor(options: ZoneApiOptions) {
    this.#options = options;
  }

  get zone(): string {
    return this.#options.zone;
  }

  /** Why the last call failed, if another try may do. */
  get trouble(): CodedError | undefined {
    return this.#trouble;
  }

  async list({ name, type, identifier }: ListStart): Promise<RecordPage> {
    await this.admit();
    const start = {
      HostedZoneId: this.zone,
      StartRecordName: name,
      ...(type !== undefined && { StartRecordType: type as RRType }),
      ...(identifier !== undefined && { StartRecordIdentifier: identifier }),
      MaxItems: PAGE,
    };
    const page = await this.#call("list", ({ client, sdk }, abortSignal) =>
      client.send(new sdk.ListResourceRecordSetsCommand(start), { abortSignal }),
    );
    const { ResourceRecordSets = [], IsTruncated, NextRecordName, NextRecordType, NextRecordIdentifier } = page;
    const more = IsTruncated === true && NextRecordName !== undefined;
    return {
      records: ResourceRecordSets,
      next: more ? { name: NextRecordName, type: NextRecordType, identifier: NextRecordIdentifier } : undefined,
    };
  }

  /**
   * Waits until there are credentials and the account may make another call. `change` is called after it, so that the
   * changes are checked at the last moment.
   */
  async admit(): Promise<void> {
    const { session, zone, bucket, signal } = this.#options;
    await session.client(zone).catch((error: unknown) => this.#fail(error));
    await bucket.take(signal);
  }

  /**
   * Sends all as one batch, at once: `admit` was waited for. A refusal's message says that it is about `what`.
   *
   * Each record is deleted exactly as it was read and created anew, in one transaction. Route 53 refuses to delete a
   * record that is not as the request has it, so nothing is written over a change that this process has not seen. An
   * UPSERT would. https://docs.aws.amazon.com/Route53/latest/APIReference/API_ChangeResourceRecordSets.html
   */
  async change(replacements: readonly Replacement[], what: string): Promise<ChangeInfo | undefined> {
    const Changes = replacements.flatMap(({ before, after }) => [
      { Action: "DELETE" as const, ResourceRecordSet: before },
      { Action: "CREATE" as const, ResourceRecordSet: after },
    ]);
    const batch = { HostedZoneId: this.zone, ChangeBatch: { Comment: "weights by Evenkeel", Changes } };
    const send: Send<{ ChangeInfo?: ChangeInfo | undefined }> = ({ client, sdk }, abortSignal) =>
      client.send(new sdk.ChangeResourceRecordSetsCommand(batch), { abortSignal });
    const answer = await this.#call("change", send, what);
    return answer.ChangeInfo;
  }

  /** Whether a change is in effect on all of Route 53's servers. */
  async isInSync(change: string): Promise<boolean> {
    await this.admit();
    const answer = await this.#call("follow", ({ client, sdk }, abortSignal) =>
      client.send(new sdk.GetChangeCommand({ Id: change }), { abortSignal }),
    );
    return answer.ChangeInfo?.Status === "INSYNC";
  }

  async #call<T>(action: "list" | "change" | "follow", send: Send<T>, what?: string): Promise<T> {
    const { zone, session, calls, clock, deadline, signal } = this.#options;
    try {
      const aws = { client: await session.client(zone), sdk: await import("./aws-sdk.ts") };
      const limit = { clock, milliseconds: deadline, signal, what: `route53 ${action} of zone ${zone}` };
      const answer = await withDeadline(limit, (abort) => send(aws, abort));
      calls.inc({ zone, action, result: "ok" });
      this.#trouble = undefined;
      return answer;
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      if (isExpiry(thrown)) session.expire();
      const error = route53Fault(thrown, zone, what);
      calls.inc({ zone, action, result: resultOf(error) });
      return this.#fail(error);
    }
  }

  #fail(error: unknown): never {
    this.#trouble = isRetryable(error) ? (error as CodedError) : undefined;
    throw error;
  }
}
