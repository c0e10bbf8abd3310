/** Loaded before a bot with `--import`: moves the time of day of its process. */
import { moveSystemClock } from "../../faults/bot/system-clock.ts";

moveSystemClock(Number(process.env["CLOCK_OFFSET_MS"]));
