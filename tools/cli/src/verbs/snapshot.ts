import { writeFile } from "node:fs/promises";
import { explain, setting } from "@evenkeel/runtime";
import { CannotWrite, NothingKnown, Refused, WrongUsage } from "../errors.ts";
import { Reach, type ReachedService } from "../reach/reach.ts";
import { commonSettings } from "../settings.ts";
import { noteMissed, someReached } from "../show/missed.ts";
import { defineVerb } from "../verb.ts";

export const snapshot = defineVerb({
  name: "snapshot",
  usage: ["<decision id>", "<decision id> -f <file>"],
  summary: "Saves a decision and its inputs to a file, for `replay` and bug reports",
  details: [
    "-f - writes to standard output. Exits 1 if no service has the decision: services keep only the last ones.",
  ],
  settings: {
    ...commonSettings,
    file: setting.text({ optional: true, aliases: ["f"], help: "File to write (default <id>.json)" }),
    force: setting.boolean({ default: "false", help: "Overwrite an existing file" }),
  },
  words: { least: 1, most: 1 },
  run: async (session, settings, words) => {
    const { screen } = session;
    const [id = ""] = words;
    if (!/^[0-9a-f]{1,64}$/.test(id))
      throw new WrongUsage({ fault: `${id} is not the ID of a decision; \`decisions\` lists IDs` });
    await using reach = new Reach(session, settings);
    const services = await reach.services();
    const found = await Promise.all(someReached(screen, services).map((service) => recording(service, id)));
    const [recorded] = found.filter((one) => one !== undefined);
    if (recorded === undefined) {
      noteMissed(screen, services.missed);
      throw new NothingKnown({ what: `no service that answers has a snapshot of decision ${id}` });
    }
    const { service, text } = recorded;
    const { file = `${id}.json`, force, output } = settings;
    if (file === "-") {
      screen.print(text);
      return 0;
    }
    await writeFile(file, text, { flag: force ? "w" : "wx", mode: 0o600 }).catch((cause: unknown) => {
      throw new CannotWrite({ file, fault: explain(cause) });
    });
    if (output === "json") screen.json({ service, id, file, bytes: Buffer.byteLength(text) });
    else screen.lines(`Saved decision ${id} of ${service} to ${file}. Repeat it: kubectl evenkeel replay ${file}`);
    return 0;
  },
});

async function recording(
  { name, client }: ReachedService,
  id: string,
): Promise<{ readonly service: string; readonly text: string } | undefined> {
  try {
    return { service: name, text: await client.text("/api/v1/Decisions/Snapshot", { id }) };
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undefined;
    throw error;
  }
}
