// What the sources use of Node 22 and Node 20 lacks. The bundle runs this first.

if (!("withResolvers" in Promise)) {
  Object.assign(Promise, {
    withResolvers() {
      let settle = {};
      const promise = new Promise((resolve, reject) => (settle = { resolve, reject }));
      return { promise, ...settle };
    },
  });
}

if (!("parse" in URL)) {
  Object.assign(URL, {
    parse: (text: string, base?: string) => (URL.canParse(text, base) ? new URL(text, base) : null),
  });
}
