import { registrations, run } from "../src/index.ts";
import { ballastRegistration } from "./ballast-registration.ts";

// The program with the fixture service registered besides; otherwise as src/main.ts.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
const code = await run(process, [...registrations, ballastRegistration], import.meta.url);
process.stdout.write("", () => process.exit(code));
