import type { ServiceProcess } from "@evenkeel/testkit";

/** The sum of a metric's samples with the given labels: 0 if there are none. Fails if the metric does not exist. */
export async function metricOf(
  url: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const lines = (await (await fetch(url)).text()).split("\n");
  if (!lines.some((line) => line.startsWith(`# TYPE ${name} `))) throw new Error(`there is no metric ${name}`);
  return lines
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`)))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

/** What a method of the JSON API answers to the administrator, or to the user of `token`. */
export async function call(
  service: ServiceProcess,
  method: string,
  message: unknown,
  token: string | null = "secret",
): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }> {
  const headers = {
    "content-type": "application/json",
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  };
  const url = await service.url("admin", `/api/v1/${method}`);
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(message) });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}
