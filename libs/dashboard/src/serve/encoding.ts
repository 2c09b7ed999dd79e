import type { Asset } from "./asset-files.ts";

export type Encoding = "br" | "gzip" | "identity";

/** The smallest encoding of `asset` that an `accept-encoding` header allows. */
export function chooseEncoding(header: string | undefined, asset: Pick<Asset, "br" | "gzip">): Encoding {
  const refused = new Set<string>();
  const taken = new Set<string>();
  for (const part of (header ?? "").toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((word) => word.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
    (Number(weight) > 0 ? taken : refused).add(name);
  }
  const takes = (name: string) => taken.has(name) || (taken.has("*") && !refused.has(name));
  if (asset.br && takes("br")) return "br";
  return asset.gzip && takes("gzip") ? "gzip" : "identity";
}
