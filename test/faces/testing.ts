export { ManualClock } from "../../src/testing/manual-clock.ts";
export { TestPlatform } from "../../src/testing/test-platform.ts";
