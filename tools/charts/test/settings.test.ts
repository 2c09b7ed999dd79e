import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { parse } from "yaml";
import { charts, serviceCharts } from "../src/index.ts";
import { root } from "../src/places.ts";

test.each(serviceCharts(charts))(
  "the settings of %s's chart are the service's own, with the same defaults",
  async (service) => {
    const schema = JSON.parse(readFileSync(join(charts, service, "settings.schema.json"), "utf8")) as Schema;
    const { settings } = parse(readFileSync(join(charts, service, "values.yaml"), "utf8")) as Values;
    expect(Object.keys(settings).sort()).toEqual(Object.keys(schema.properties).sort());

    const main = join(root, "apps", service, "dist/main.mjs");
    const { stdout } = await promisify(execFile)(process.execPath, [main, "--print-settings", "--insecure"], {
      env: {},
    });
    const shown = new Map(
      stdout.split("\n").flatMap((line) => {
        const [, flag = "", value = ""] = /^(\S+)\s+(.*?)\s*(\(.*\))?$/.exec(line) ?? [];
        return flag === "" ? [] : [[flag, value] as const];
      }),
    );
    for (const [name, value] of Object.entries(settings)) {
      const flag = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      // An empty list is left out by the chart.
      if (Array.isArray(value) && value.length === 0) expect([...shown.keys()]).toContain(flag);
      else expect({ flag, value: shown.get(flag) }).toEqual({ flag, value: String(value) });
    }
  },
);

interface Schema {
  readonly properties: Readonly<Record<string, unknown>>;
}

interface Values {
  readonly settings: Readonly<Record<string, unknown>>;
}
