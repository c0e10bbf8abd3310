import type { Logger } from "../core/logger.ts";
import { scrubber, showError } from "../core/redact.ts";
import { defaultLane, type LaneOf } from "../events/lane.ts";
import { textsOf } from "../events/parse.ts";

/** A bot's own lane function must not be able to refuse a delivery. */
export function safeLane(laneOf: LaneOf, log: Logger): LaneOf {
  return (event) => {
    try {
      return String(laneOf(event));
    } catch (thrown) {
      const err = showError(thrown, scrubber(textsOf(event)));
      log.error({ err, event: event.id }, "the lane option failed; the event keeps its usual lane");
      return defaultLane(event);
    }
  };
}
