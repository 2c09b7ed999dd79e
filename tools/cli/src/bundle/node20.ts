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

if (!("groupBy" in Map)) {
  Object.assign(Map, {
    groupBy<Key, Value>(values: Iterable<Value>, keyOf: (value: Value, index: number) => Key): Map<Key, Value[]> {
      const groups = new Map<Key, Value[]>();
      let index = 0;
      for (const value of values) {
        const key = keyOf(value, index++);
        const group = groups.get(key);
        if (group === undefined) groups.set(key, [value]);
        else group.push(value);
      }
      return groups;
    },
  });
}
