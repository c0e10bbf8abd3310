import { serveEvents } from "./serve-events.mjs";

// Verifies and parses each request and responds, but stores nothing.
serveEvents((_events, acknowledge) => acknowledge());
