import { conversationTools } from "./conversations.ts";
import { eventTools } from "./events.ts";
import { readingTools } from "./reading.ts";
import type { Tool } from "./tool.ts";
import { uploadTools } from "./upload.ts";
import { writingTools } from "./writing.ts";

/** The thirteen tools (section 1 of the platform document), in the order in which they are listed. */
export const allTools: readonly Tool[] = [
  ...readingTools,
  ...conversationTools,
  ...eventTools,
  ...writingTools,
  ...uploadTools,
];
