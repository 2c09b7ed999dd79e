// Node loads it before a service, with --import. The service's wall clock is ahead by CLOCK_AHEAD milliseconds from the
// start, and jumps by CLOCK_JUMP milliseconds at SIGUSR2: ahead the first time, back the next.
const now = Date.now.bind(Date);
let ahead = Number(process.env["CLOCK_AHEAD"] ?? 0);
let jump = Number(process.env["CLOCK_JUMP"] ?? 0);

process.on("SIGUSR2", () => {
  ahead += jump;
  jump = -jump;
});

Date.now = () => now() + ahead;
