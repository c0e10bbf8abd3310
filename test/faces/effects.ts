export { RunEffects } from "../../src/effects/run-effects.ts";
export { MAX_STATE_BYTES } from "../../src/effects/state-value.ts";
