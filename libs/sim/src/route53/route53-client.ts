import type { ChangeAction } from "./change.ts";
import { readRecordSet, type RecordSet, writeRecordSet } from "./record-set.ts";
import { Route53Fault } from "./route53-fault.ts";
import { child, childText, element, readXml, writeXml, type XmlElement } from "./xml.ts";

export interface ListQuery {
  readonly name?: string;
  readonly type?: string;
  readonly identifier?: string;
  readonly maxitems?: number;
}

export interface RecordPage {
  readonly records: readonly RecordSet[];
  readonly truncated: boolean;
  readonly maxItems: number;
  /** Where the next page begins; absent on the last. */
  readonly next?: ListQuery;
}

export interface ChangeState {
  readonly id: string;
  readonly status: string;
  readonly submittedAt: string;
}

/** Whoever checks signatures refuses it; neither the embedded API nor moto does. */
const AUTHORIZATION =
  "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/route53/aws4_request, SignedHeaders=host, Signature=none";

/** The operations in use on the bare wire, for the contract: every refusal is a Route53Fault. */
export class Route53Client {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async list(zone: string, query: ListQuery = {}): Promise<RecordPage> {
    const asked = Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]);
    const answer = await this.call("GET", `hostedzone/${zone}/rrset?${new URLSearchParams(asked).toString()}`);
    const [name, type, identifier] = ["Name", "Type", "Identifier"].map((part) =>
      childText(answer, `NextRecord${part}`),
    );
    return {
      records: child(answer, "ResourceRecordSets")?.children.map(readRecordSet) ?? [],
      truncated: childText(answer, "IsTruncated") === "true",
      maxItems: Number(childText(answer, "MaxItems")),
      ...(name !== undefined && {
        next: { name, ...(type !== undefined && { type }), ...(identifier !== undefined && { identifier }) },
      }),
    };
  }

  async change(zone: string, ...changes: readonly (readonly [ChangeAction, RecordSet])[]): Promise<ChangeState> {
    const parts = changes.map(([action, set]) => element("Change", [element("Action", action), writeRecordSet(set)]));
    const batch = element("ChangeBatch", [element("Changes", parts)]);
    const request = element("ChangeResourceRecordSetsRequest", [batch]);
    return changeState(await this.call("POST", `hostedzone/${zone}/rrset`, request));
  }

  async getChange(id: string): Promise<ChangeState> {
    return changeState(await this.call("GET", `change/${id}`));
  }

  async getZone(zone: string): Promise<{ id: string; name: string; records: number }> {
    const found = child(await this.call("GET", `hostedzone/${zone}`), "HostedZone");
    return {
      id: childText(found, "Id") ?? "",
      name: childText(found, "Name") ?? "",
      records: Number(childText(found, "ResourceRecordSetCount")),
    };
  }

  /** Gives the id without a prefix. The embedded API has no such operation: its zones are given to it. */
  async createZone(name: string): Promise<string> {
    const request = [element("Name", name), element("CallerReference", `${name} ${performance.now()}`)];
    const answer = await this.call("POST", "hostedzone", element("CreateHostedZoneRequest", request));
    return (childText(child(answer, "HostedZone"), "Id") ?? "").replace(/^\/hostedzone\//, "");
  }

  /** Any other request; `path` comes after the version. */
  async call(method: string, path: string, body?: XmlElement): Promise<XmlElement> {
    const response = await fetch(`${this.#url}/2013-04-01/${path}`, {
      method,
      headers: { authorization: AUTHORIZATION, "content-type": "application/xml" },
      ...(body && { body: writeXml(body) }),
    });
    const answer = readXml(await response.text());
    if (response.ok) return answer;
    if (answer.name === "InvalidChangeBatch")
      throw new Route53Fault(answer.name, childText(child(answer, "Messages"), "Message") ?? "", response.status);
    const error = child(answer, "Error");
    throw new Route53Fault(childText(error, "Code") ?? "", childText(error, "Message") ?? "", response.status);
  }
}

function changeState(answer: XmlElement): ChangeState {
  const info = child(answer, "ChangeInfo");
  return {
    id: (childText(info, "Id") ?? "").replace(/^\/change\//, ""),
    status: childText(info, "Status") ?? "",
    submittedAt: childText(info, "SubmittedAt") ?? "",
  };
}
