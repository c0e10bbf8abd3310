/** Moves the time of day of a process. Loaded before the bot with `--import`. */
import { moveSystemClock } from "../../faults/bot/system-clock.ts";

moveSystemClock(Number(process.env["CLOCK_OFFSET_MS"]));
