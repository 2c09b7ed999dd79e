/** Answers a body with itself, and writes each line of its input to its output. */
export const ECHO = `
  require("node:http").createServer((request, response) => request.pipe(response)).listen(8080);
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => console.log("read " + line));
  console.log("ready");
`;

/** Writes its input to its output, and exits with 7. */
export const CAT = "process.exitCode = 7; process.stdin.pipe(process.stdout)";
