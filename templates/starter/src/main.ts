import { createBot } from "./bot.ts";

// Listen, poll and handle events until SIGTERM or Ctrl-C.
await createBot().start();
