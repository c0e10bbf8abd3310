export { FakePlatform } from "../../src/testing/fake-platform.ts";
export { ManualClock } from "../../src/testing/manual-clock.ts";
