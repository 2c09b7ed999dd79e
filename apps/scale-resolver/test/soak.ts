/** Whether the full matrices and sizes run, as in `make soak SUITE=scale-resolver`. */
export const IN_SOAK = process.env["SOAK"] === "1";
