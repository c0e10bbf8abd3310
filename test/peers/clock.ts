/** Loaded before the bot with `--import`, to change the process's time of day. */
import { flushCompileCache } from "node:module";
import { moveSystemClock } from "../faults/bot/system-clock.ts";

moveSystemClock(Number(process.env["CLOCK_OFFSET_MS"]));

/** In ms. The bot has loaded its packages by then. */
const LOADED_MS = 2_000;

// Node stores compiled code when a process exits, but these bots are killed.
setTimeout(flushCompileCache, LOADED_MS).unref();
