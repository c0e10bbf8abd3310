import { createBot } from "./bot.ts";

// Listens, polls and handles events until SIGTERM or Ctrl-C.
await createBot().start();
