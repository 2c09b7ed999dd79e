import type { Certificate } from "@evenkeel/testkit";

/** The variables in which pods find their certificate. */
export function environment(
  tls: Certificate | undefined,
): readonly { readonly name: string; readonly value: string }[] {
  if (tls === undefined) return [];
  return [
    { name: "CERT", value: tls.cert },
    { name: "KEY", value: tls.key },
  ];
}
