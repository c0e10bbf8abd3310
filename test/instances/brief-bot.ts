/** A bot that gives its handlers no time when it stops, run by tests as a process of its own. */
import { Bot } from "../../src/index.ts";

await new Bot({ shutdownGraceMs: 0 }).start();
