/** Replace this with the library's first subject. */
export const name = "real-node";
