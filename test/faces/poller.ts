export { SharedPeers, type Term } from "../../src/poller/leader.ts";
export { CURSOR, LogReader, type LogReaderOptions } from "../../src/poller/log-reader.ts";
export {
  type FoundEvent,
  initialMode,
  type Mode,
  type ModeState,
  type ModeStep,
  nextDeadline,
  type Observation,
  observe,
} from "../../src/poller/mode.ts";
export { Poller, type PollerOptions } from "../../src/poller/poller.ts";
export { readSnapshot, type Snapshot, writeSnapshot } from "../../src/poller/snapshot.ts";
