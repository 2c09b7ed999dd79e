import type { Resource, Secret } from "@evenkeel/kube";
import type { Credentials } from "./json-servers.ts";

/** Reads `username` and `password` of a Secret. */
export function secretCredentials(secrets: Pick<Resource<Secret>, "get">) {
  return async (namespace: string, name: string, signal: AbortSignal): Promise<Credentials> => {
    const { data = {} } = await secrets.get({ namespace, name }, { signal });
    const text = (key: string) => Buffer.from(data[key] ?? "", "base64").toString();
    return { username: text("username"), password: text("password") };
  };
}
