const { default: Runtime } = require("jest-runtime");

/**
 * Jest refuses an `import()` between tests, and takes the end of one concurrent test for the end of all:
 * https://github.com/jestjs/jest/blob/v30.0.0/packages/jest-runtime/src/index.ts (leaveTestCode). Here it is the end of
 * the last one.
 */
module.exports = class extends Runtime {
  #running = 0;

  enterTestCode() {
    this.#running += 1;
    super.enterTestCode();
  }

  leaveTestCode() {
    this.#running -= 1;
    if (this.#running === 0) super.leaveTestCode();
  }
};
