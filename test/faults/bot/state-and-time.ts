import { z } from "zod";

/** State of a conversation, or of a group of them. */
export interface Counters {
  /** Counted messages. */
  count: number;
  /** Timers that fired. */
  fired: number;
}

export const countersSchema: z.ZodType<Counters> = z.object({
  count: z.number().default(0),
  fired: z.number().default(0),
});
